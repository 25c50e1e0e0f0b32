#include <algorithm>
#include <iomanip>
#include <sstream>

#include "experiments/simulation/simulation.hpp"

namespace zbphw {
namespace {

std::string fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

std::string significant(double value) {
  std::ostringstream out;
  out << std::setprecision(4) << value;
  return out.str();
}

void add_line(std::ostringstream& out, const std::string& name, const std::string& value,
              const std::string& note = "") {
  out << "  " << std::left << std::setw(18) << name << std::right << std::setw(12) << value;
  if (!note.empty()) out << "  " << note;
  out << "\n";
}

// The source whose absence takes most of the NSR away: "adc, 61.0 %".
std::string leading_cause(const DriftPoint& point) {
  const auto smaller = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(point.error_by_source.begin(), point.error_by_source.end(), smaller);
  if (most == point.error_by_source.end() || most->second <= 0) return "";
  return most->first + ", " + fixed(100 * most->second / point.error.nsr, 1) + " %";
}

void add_energy(std::ostringstream& out, const SimulationSubject& subject, const SimulationResult& result) {
  const EnergySources sources = subject.energy_sources();
  const EnergyByComponent each = result.chip.energy.scaled(1e12 / static_cast<double>(result.chip.queries));
  out << "energy a query, pJ\n";
  add_line(out, "link", significant(each.link_j), sources.link);
  add_line(out, "DAC", significant(each.dac_j), sources.dac);
  add_line(out, "array", significant(each.array_j), sources.array);
  add_line(out, "ADC", significant(each.adc_j), sources.adc);
  add_line(out, "digital", significant(each.digital_j), sources.digital);
  const double total_pj = each.total_j() - each.programming_j;
  add_line(out, "total", significant(total_pj), "without programming");
  if (const std::int64_t operations = subject.operations_per_query(); operations > 0) {
    add_line(out, "TOPS/W", significant(static_cast<double>(operations) / total_pj),
             "a multiplication and an addition are two operations");
  }
}

void add_units(std::ostringstream& out, const ChipTotals& chip) {
  if (chip.utilisation.empty()) return;
  out << "share of the time in which a unit works\n";
  for (const auto& [unit, share] : chip.utilisation) {
    add_line(out, unit, fixed(100 * share, 1), unit == bottleneck(chip) ? "%  the bottleneck" : "%");
  }
}

}  // namespace

std::string simulation_text(const SimulationSubject& subject, const SimulationResult& result) {
  std::ostringstream out;
  const ErrorFigures& error = result.error;
  out << "accuracy\n";
  add_line(out, "SNR", fixed(error.snr_db, 2), "dB");
  add_line(out, "effective bits", fixed(error.effective_bits, 2));
  add_line(out, "NSR", significant(error.nsr));
  add_line(out, "bias", significant(error.bias), "of the root mean square output");
  if (result.reading.adc_conversions > 0) {
    add_line(out, "saturated",
             significant(100.0 * static_cast<double>(result.reading.saturated_outputs) /
                         static_cast<double>(result.reading.adc_conversions)),
             "% of ADC conversions");
  }
  if (!result.error_by_source.empty()) {
    out << "NSR that goes away without\n";
    for (const auto& [name, nsr] : result.error_by_source) {
      add_line(out, name, significant(nsr), fixed(100 * nsr / error.nsr, 1) + " %");
    }
  }
  if (!result.drift.empty())
    out << "drift\n"
        << "  seconds               gain    SNR (dB)  most of the NSR\n";
  for (const DriftPoint& point : result.drift) {
    out << "  " << std::left << std::setw(14) << significant(point.t_s) << std::right << std::setw(12)
        << fixed(point.error.gain, 4) << std::setw(12) << fixed(point.error.snr_db, 2) << "  " << leading_cause(point)
        << "\n";
  }
  out << "time\n";
  add_line(out, "latency, mean", significant(result.latency.mean_ns), "ns");
  add_line(out, "median", significant(result.latency.p50_ns), "ns");
  add_line(out, "99 % are below", significant(result.latency.p99_ns), "ns");
  add_line(
      out, "queries/s",
      significant(static_cast<double>(result.chip.queries) / (static_cast<double>(result.chip.elapsed_ps) * 1e-12)),
      "on the chip");
  add_units(out, result.chip);
  add_energy(out, subject, result);
  out << subject.details_text();
  return out.str();
}

}  // namespace zbphw
