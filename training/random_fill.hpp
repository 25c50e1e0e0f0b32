// Tensors of addressed random numbers (base/random.hpp): same bits for any thread count.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/random.hpp"

namespace zbphw {

// Overwrites a contiguous CPU tensor (float or double) with std * z, z standard normal conditioned on |z| <= bound.
// Element i's first draw is at element i / 4 of `at` with query 0; a rejected one draws again with query 1, 2, ...
void fill_truncated_normal(const at::Tensor& tensor, const RandomAt& at, double std, double bound);

}  // namespace zbphw
