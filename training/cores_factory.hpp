// Which nonlinear cores a learning rule trains through. A rule is one file that registers itself:
//
//     const Registration<CoresFactory> registered("bp", [](const TrainConfig&) { return ...; });
#pragma once

#include <functional>
#include <memory>

#include "base/registry.hpp"
#include "training/nonlinear_cores.hpp"
#include "training/train_config.hpp"

namespace zbphw {

// The config is complete: its model knows its vocabulary.
using CoresFactory = std::function<std::unique_ptr<NonlinearCores>(const TrainConfig& config)>;

// The cores of config.rule. Throws a config Error when the rule, or something that it needs, is not there.
std::unique_ptr<NonlinearCores> make_cores(const TrainConfig& config);

}  // namespace zbphw
