// The exact transfer functions' vector-Jacobian products: what an audit compares an estimate with.
#pragma once

#include <ATen/core/Tensor.h>

#include "hw/physical_block.hpp"

namespace zbphw {

// J^T g of the ideal block of this kind at `point`, [rows, input_width]. Throws a config Error for a kind without a
// twin.
at::Tensor twin_vjp(const BlockSpec& spec, const QuerySlot& slot, const at::Tensor& point, const at::Tensor& cotangent);

}  // namespace zbphw
