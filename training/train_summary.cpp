#include "training/train_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace zbphw {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t tail_length = 100;

// JSON has no NaN: what is not there is null, both ways.
Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }
double number_or_none(const Json& json) { return json.is_number() ? json.get<double>() : none; }

double median(const std::deque<double>& values) {
  if (values.empty()) return none;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace

LossRecord::LossRecord() : train_{none, none, none}, validation_{none, none, none} {}

void LossRecord::Series::add(double loss) {
  if (!std::isfinite(initial)) initial = loss;
  if (!std::isfinite(best) || loss < best) best = loss;
  final = loss;
}

void LossRecord::add_train(double loss) {
  train_.add(loss);
  tail_.push_back(loss);
  if (tail_.size() > tail_length) tail_.pop_front();
}

void LossRecord::add_validation(double loss) { validation_.add(loss); }

Json LossRecord::values() const {
  return {{"initial", number_or_null(train_.initial)},
          {"final", number_or_null(train_.final)},
          {"best", number_or_null(train_.best)},
          {"tail_median", number_or_null(median(tail_))},
          {"validation_initial", number_or_null(validation_.initial)},
          {"validation_final", number_or_null(validation_.final)},
          {"validation_best", number_or_null(validation_.best)}};
}

Json LossRecord::state() const {
  Json state = values();
  state["tail"] = Json::array();
  for (const double loss : tail_) state["tail"].push_back(number_or_null(loss));
  return state;
}

void LossRecord::restore(const Json& state) {
  train_ = {number_or_none(state.at("initial")), number_or_none(state.at("final")), number_or_none(state.at("best"))};
  validation_ = {number_or_none(state.at("validation_initial")), number_or_none(state.at("validation_final")),
                 number_or_none(state.at("validation_best"))};
  tail_.clear();
  for (const Json& loss : state.at("tail")) tail_.push_back(number_or_none(loss));
}

Json to_json(const TrainSummary& s) {
  return {{"parameters", s.parameters},
          {"steps", s.steps},
          {"tokens", s.tokens},
          {"loss", s.losses},
          {"ln_vocab", s.ln_vocab},
          {"unigram_entropy", s.unigram_entropy},
          {"tokens_per_s", s.tokens_per_s},
          {"step_ms", s.step_ms},
          {"time_s", s.time_s},
          {"skips", s.skips},
          {"guard_events", s.guard_events}};
}

}  // namespace zbphw
