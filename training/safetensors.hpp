// Named tensors in a file: the safetensors format (github.com/huggingface/safetensors), which Python reads without our
// code. Eight bytes header length (little-endian), a JSON header, then the tensors' values in C order without gaps.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zbphw {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Writes all or nothing (base/atomic_file.hpp). `metadata` goes into the header's "__metadata__". Throws a data Error.
void write_safetensors(const std::string& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {});

struct TensorFile {
  std::map<std::string, at::Tensor> tensors;  // on the CPU
  std::map<std::string, std::string> metadata;
};

// Throws a data Error that names the file, and the tensor at fault: a file that ends early or is too long, a header
// that is not one, an unknown type, values that do not fit their shape, gaps or overlaps.
TensorFile read_safetensors(const std::string& path);

}  // namespace zbphw
