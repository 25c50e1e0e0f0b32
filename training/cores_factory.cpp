#include "training/cores_factory.hpp"

namespace zbphw {

std::unique_ptr<NonlinearCores> make_cores(const TrainConfig& config) {
  const CoresFactory& factory =
      Registry<CoresFactory>::instance().at(choice_text(config.rule), "learning rule", "rule");
  return factory(config);
}

}  // namespace zbphw
