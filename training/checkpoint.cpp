#include "training/checkpoint.hpp"

#include <c10/core/GradMode.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/atomic_file.hpp"
#include "base/config_file.hpp"
#include "base/error.hpp"

namespace zbphw {
namespace {

namespace fs = std::filesystem;

constexpr const char* marker_name = "committed.json";
constexpr const char* model_name = "model.safetensors";
constexpr const char* optimizer_name = "optimizer.safetensors";
constexpr const char* state_name = "state.json";
constexpr const char* directory_prefix = "step_";

std::string directory_name(std::int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "%s%09lld", directory_prefix, static_cast<long long>(step));
  return name;
}

// Size and CRC-32 of a file, as they stand in the marker.
Json file_sum(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw data_error(path, "is missing or cannot be opened");
  uLong crc = crc32(0, nullptr, 0);
  std::uint64_t bytes = 0;
  std::vector<char> chunk(1 << 20);
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    crc = crc32(crc, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(in.gcount()));
    bytes += static_cast<std::uint64_t>(in.gcount());
  }
  return {{"bytes", bytes}, {"crc32", crc}};
}

Json load_json_data(const std::string& path) {
  try {
    return load_json_file(path);
  } catch (const Error& error) {
    throw data_error(error.where(), error.message());  // a damaged checkpoint is no mistake in a configuration
  }
}

std::vector<fs::path> step_directories(const std::string& directory) {
  std::vector<fs::path> found;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, missing)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name.rfind(directory_prefix, 0) == 0) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());  // names have a fixed width, so this is the order of steps
  return found;
}

void remove_checkpoint(const fs::path& path) {
  std::error_code reason;
  fs::remove(path / marker_name, reason);
  if (!reason) sync_directory(path.string());
  fs::remove_all(path, reason);
  if (reason) throw data_error(path.string(), "cannot be removed: " + reason.message());
}

NamedTensors as_list(const TensorFile& file) { return {file.tensors.begin(), file.tensors.end()}; }

}  // namespace

std::string save_checkpoint(const std::string& directory, const Checkpoint& checkpoint) {
  const fs::path path = fs::path(directory) / directory_name(checkpoint.step);
  if (fs::exists(path)) remove_checkpoint(path);
  std::error_code reason;
  fs::create_directories(path, reason);
  if (reason) throw data_error(path.string(), "cannot be created: " + reason.message());
  write_safetensors((path / model_name).string(), checkpoint.model, {{"format", "pt"}});
  write_safetensors((path / optimizer_name).string(), checkpoint.optimizer);
  Json state = checkpoint.state;
  state["step"] = checkpoint.step;
  write_file_atomically((path / state_name).string(), state.dump(2) + "\n");
  Json marker = {{"format", "zbphw-checkpoint"}, {"format_version", 1}, {"step", checkpoint.step}};
  for (const char* name : {model_name, optimizer_name, state_name}) {
    marker["files"][name] = file_sum((path / name).string());
  }
  sync_directory(directory);
  write_file_atomically((path / marker_name).string(), marker.dump(2) + "\n");
  return path.string();
}

std::vector<std::string> committed_checkpoints(const std::string& directory) {
  std::vector<std::string> paths;
  for (const fs::path& path : step_directories(directory)) {
    if (fs::exists(path / marker_name)) paths.push_back(path.string());
  }
  return paths;
}

Checkpoint load_checkpoint(const std::string& path) {
  const fs::path at(path);
  const std::string marker_path = (at / marker_name).string();
  const Json marker = load_json_data(marker_path);
  if (!marker.is_object() || marker.value("format_version", 0) != 1 || !marker.contains("files")) {
    throw data_error(marker_path, "is not the commit marker of a checkpoint of format version 1");
  }
  for (const char* name : {model_name, optimizer_name, state_name}) {
    const std::string file = (at / name).string();
    const Json expected = marker["files"].is_object() ? marker["files"].value(name, Json()) : Json();
    if (expected != file_sum(file)) throw data_error(file, "is damaged: its size or checksum is not the committed one");
  }
  Checkpoint checkpoint;
  checkpoint.model = as_list(read_safetensors((at / model_name).string()));
  checkpoint.optimizer = as_list(read_safetensors((at / optimizer_name).string()));
  checkpoint.state = load_json_data((at / state_name).string());
  checkpoint.step = checkpoint.state.at("step").get<std::int64_t>();
  return checkpoint;
}

std::optional<Checkpoint> load_newest_checkpoint(const std::string& directory,
                                                 const std::function<void(const std::string&)>& on_damaged) {
  const std::vector<std::string> paths = committed_checkpoints(directory);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    try {
      return load_checkpoint(paths[i]);
    } catch (const Error& error) {
      if (i + 1 == paths.size()) throw;
      on_damaged(std::string(error.what()) + "; using the checkpoint before it");
    }
  }
  return std::nullopt;
}

void copy_tensors(const NamedTensors& from, const NamedTensors& to, const std::string& where) {
  const at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> rest(from.begin(), from.end());
  for (const auto& [name, tensor] : to) {
    const auto found = rest.find(name);
    if (found == rest.end()) throw data_error(where, "lacks the tensor '" + name + "'");
    if (found->second.sizes() != tensor.sizes()) throw data_error(where, "tensor '" + name + "' has another shape");
    tensor.copy_(found->second);
    rest.erase(found);
  }
  if (!rest.empty()) throw data_error(where, "has the tensor '" + rest.begin()->first + "', which nothing here needs");
}

void prune_checkpoints(const std::string& directory, std::int64_t keep) {
  std::int64_t kept = 0;
  for (const fs::path& path : step_directories(directory)) {
    if (fs::exists(path / marker_name) && kept < keep) {
      ++kept;
    } else {
      remove_checkpoint(path);
    }
  }
}

}  // namespace zbphw
