#include "experiments/simulation/simulation.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace zbphw {
namespace {

double sum_of(const at::Tensor& values) { return values.sum().item<double>(); }

LatencyFigures latency_figures(const std::vector<ServedQuery>& served) {
  std::vector<double> ns;
  ns.reserve(served.size());
  double sum = 0;
  for (const ServedQuery& query : served) {
    ns.push_back(static_cast<double>(query.end_ps - query.start_ps) * 1e-3);
    sum += ns.back();
  }
  std::sort(ns.begin(), ns.end());
  const auto quantile = [&ns](double q) {
    return ns[static_cast<std::size_t>(q * static_cast<double>(ns.size() - 1))];
  };
  return {sum / static_cast<double>(ns.size()), quantile(0.5), quantile(0.99)};
}

Json by_source_json(const ErrorBySource& by_source) {
  Json json = Json::object();
  for (const auto& [name, nsr] : by_source) json[name] = nsr;
  return json;
}

}  // namespace

ErrorFigures error_figures(const at::Tensor& measured, const at::Tensor& ideal) {
  const at::Tensor wanted = ideal.to(at::kDouble);
  const at::Tensor got = measured.to(at::kDouble);
  const at::Tensor error = got - wanted;
  const double signal = sum_of(wanted.square());
  ErrorFigures figures;
  figures.nsr = sum_of(error.square()) / signal;
  figures.snr_db = -10 * std::log10(figures.nsr);
  figures.effective_bits = (figures.snr_db - 1.76) / 6.02;
  figures.bias = error.mean().item<double>() / std::sqrt(signal / static_cast<double>(wanted.numel()));
  figures.gain = sum_of(got * wanted) / signal;
  return figures;
}

std::int64_t count_steps(const SimulationSubject& subject, const SimulationPlan& plan) {
  return static_cast<std::int64_t>(2 + (1 + plan.at_s.size()) * (1 + subject.error_sources().size()));
}

SimulationResult run_simulation(SimulationSubject& subject, const SimulationPlan& plan, const StepObserver& progress) {
  std::int64_t done = 0;
  const auto step = [&](const std::string& note) {
    if (progress) progress(++done, note);
  };
  SimulationResult result;
  const auto sources_at = [&](double t_s, double nsr) {
    ErrorBySource by_source;
    for (const std::string& source : subject.error_sources()) {
      const bool has = subject.has_source(source);
      by_source.emplace_back(
          source, has ? nsr - error_figures(subject.read(plan.inputs, source, t_s).values, result.ideal).nsr : 0.0);
      step("without " + source);
    }
    return by_source;
  };
  result.ideal = subject.ideal(plan.inputs);
  if (sum_of(result.ideal.square()) == 0) {
    throw data_error("queries", "every exact answer is 0: there is no signal to compare the device's answers with");
  }
  result.reading = subject.read(plan.inputs, "", subject.first_time_s());
  result.error = error_figures(result.reading.values, result.ideal);
  step("queries");
  result.error_by_source = sources_at(subject.first_time_s(), result.error.nsr);
  for (const double t_s : plan.at_s) {
    DriftPoint point{t_s, error_figures(subject.read(plan.inputs, "", t_s).values, result.ideal), {}};
    step("drift");
    point.error_by_source = sources_at(t_s, point.error.nsr);
    result.drift.push_back(point);
  }
  const std::int64_t queries = plan.inputs.size(0);
  result.served.resize(static_cast<std::size_t>(queries));
  const auto keep = [&result](const ServedQuery& query) { result.served[static_cast<std::size_t>(query.row)] = query; };
  result.chip = subject.serve(queries, keep, plan.vcd_path);
  result.chip.energy += subject.programming_energy();
  result.latency = latency_figures(result.served);
  step("chip");
  return result;
}

std::string bottleneck(const ChipTotals& chip) {
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(chip.utilisation.begin(), chip.utilisation.end(), less);
  return most == chip.utilisation.end() ? "" : most->first;
}

Json simulation_json(const SimulationSubject& subject, const SimulationResult& result) {
  const ErrorFigures& error = result.error;
  const EnergySources sources = subject.energy_sources();
  const auto queries = static_cast<double>(result.chip.queries);
  const double total_j = result.chip.energy.total_j();
  const auto saturated = static_cast<double>(result.reading.saturated_outputs);
  const auto conversions = static_cast<double>(result.reading.adc_conversions);
  Json drift = Json::array();
  for (const DriftPoint& point : result.drift) {
    drift.push_back({{"t_s", point.t_s},
                     {"gain", point.error.gain},
                     {"snr_db", point.error.snr_db},
                     {"nsr", point.error.nsr},
                     {"error_by_source", by_source_json(point.error_by_source)}});
  }
  const auto operations = static_cast<double>(subject.operations_per_query());
  const double each_pj = (total_j - result.chip.energy.programming_j) * 1e12 / queries;
  Json utilisation = Json::object();
  for (const auto& [unit, share] : result.chip.utilisation) utilisation[unit] = share;
  Json json = {{"block", subject.block_name()},
               {"rows", subject.inputs()},
               {"columns", subject.outputs()},
               {"queries", result.chip.queries},
               {"snr_db", error.snr_db},
               {"effective_bits", error.effective_bits},
               {"nsr", error.nsr},
               {"bias", error.bias},
               {"saturated_fraction", conversions > 0 ? Json(saturated / conversions) : Json()},
               {"latency_ns",
                {{"mean", result.latency.mean_ns}, {"p50", result.latency.p50_ns}, {"p99", result.latency.p99_ns}}},
               {"queries_per_s", queries / (static_cast<double>(result.chip.elapsed_ps) * 1e-12)},
               {"energy_pj",
                {{"total", total_j * 1e12}, {"per_query", each_pj}, {"by_component", energy_pj(result.chip.energy)}}},
               {"energy_sources",
                {{"link", sources.link},
                 {"dac", sources.dac},
                 {"array", sources.array},
                 {"adc", sources.adc},
                 {"digital", sources.digital}}},
               {"error_by_source", by_source_json(result.error_by_source)},
               {"drift", drift},
               {"utilisation", utilisation},
               {"bottleneck", bottleneck(result.chip)},
               {"tops_per_w", operations > 0 ? Json(operations / each_pj) : Json()}};
  json.update(subject.details());
  return json;
}

}  // namespace zbphw
