// A run's state on disk: whole or not there.
//
// <directory>/step_<n>/ holds model.safetensors, optimizer.safetensors and state.json; committed.json, written last,
// lists their sizes and CRC-32 sums. A directory without it is not a checkpoint. Since all random numbers are
// addressed, there is no generator state to keep.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "training/safetensors.hpp"

namespace zbphw {

// NOLINTNEXTLINE(bugprone-exception-escape): Json moves without throwing, which the check does not see
struct Checkpoint {
  std::int64_t step = 0;
  NamedTensors model;      // parameters, by name
  NamedTensors optimizer;  // Optimizer::state()
  Json state;              // whatever else the trainer needs; its keys are the trainer's
};

// Makes `directory` when it is missing, writes the checkpoint durably, and returns its path. Throws a data Error; then
// no checkpoint of this step exists, and older ones are untouched.
std::string save_checkpoint(const std::string& directory, const Checkpoint& checkpoint);

// Paths of the committed checkpoints, the newest first. Empty when there is no such directory.
std::vector<std::string> committed_checkpoints(const std::string& directory);

// Reads one and checks every file against its sum. Throws a data Error that names the damaged file.
Checkpoint load_checkpoint(const std::string& path);

// The newest committed checkpoint that is whole, or none when there is no committed one. Each damaged one is told to
// `on_damaged` and passed over; when all are damaged, the last one's data Error is thrown.
std::optional<Checkpoint> load_newest_checkpoint(const std::string& directory,
                                                 const std::function<void(const std::string&)>& on_damaged);

// Copies the values of `from` into the tensors of `to` with the same names. Throws a data Error at `where` when a name
// is missing, left over, or of another shape.
void copy_tensors(const NamedTensors& from, const NamedTensors& to, const std::string& where);

// Removes all but the newest `keep` committed checkpoints, and what unfinished saves left behind. The commit marker
// goes first, so that a crash in the middle leaves no damaged checkpoint.
void prune_checkpoints(const std::string& directory, std::int64_t keep);

}  // namespace zbphw
