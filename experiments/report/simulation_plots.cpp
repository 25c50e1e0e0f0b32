#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "experiments/figures.hpp"
#include "experiments/report/plot.hpp"

namespace zbphw {
namespace {

constexpr std::size_t most_points = 4000;  // of a scatter plot: more only make the file larger
constexpr std::size_t bins = 50;

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::vector<std::pair<std::string, double>> named_values(const Json& object, double scale) {
  std::vector<std::pair<std::string, double>> values;
  for (const auto& [name, value] : object.items()) values.emplace_back(spaced(name), scale * value.get<double>());
  return values;
}

Plot transfer_plot(const TraceReader& trace) {
  const auto ideal = trace.read_all<double>("/signals/ideal");
  const auto measured = trace.read_all<double>("/signals/measured");
  const std::size_t stride = ideal.size() / most_points + 1;
  std::vector<std::vector<double>> rows;
  for (std::size_t k = 0; k < ideal.size(); k += stride) rows.push_back({ideal[k], measured[k]});
  return {"transfer", "Transfer curve",
          "Answers of the device over the exact ones, " + grouped(static_cast<std::int64_t>(rows.size())) + " of " +
              grouped(static_cast<std::int64_t>(ideal.size())) + "; the line is a device without errors.",
          "set xlabel 'exact answer'\nset ylabel 'answer of the device'\nset key top left\n" +
              data_block("points", rows) +
              "plot $points using 1:2 with points pointtype 7 pointsize 0.25 linecolor rgb blue title 'device', "
              "x with lines linewidth 1.5 linecolor rgb orange title 'exact'\n"};
}

Plot error_plot(const Json& summary) {
  auto parts = named_values(summary.at("error_by_source"), 1);
  parts.erase(std::remove_if(parts.begin(), parts.end(), [](const auto& part) { return part.second == 0; }),
              parts.end());
  return {"error", "Error by source",
          "Noise-to-signal ratio that goes away when one source alone is switched off; the whole is " +
              three_digits(summary.at("nsr").get<double>()) + " (SNR " + fixed(summary.at("snr_db").get<double>(), 1) +
              " dB). Sources interact: the parts need not add up.",
          bar_script(parts, "noise-to-signal ratio")};
}

// Time zero has no place on a logarithmic axis: it stands as a line.
Plot drift_plot(const Json& summary) {
  std::vector<std::vector<double>> rows;
  double at_zero = NAN;
  for (const Json& point : summary.at("drift")) {
    const double t_s = point.at("t_s");
    const double snr_db = point.at("snr_db");
    if (t_s > 0) rows.push_back({t_s, snr_db, point.at("gain").get<double>()});
    if (t_s == 0) at_zero = snr_db;
  }
  Plot plot{"drift", "Drift", "Signal-to-noise ratio and gain over the time since programming or calibration.", ""};
  if (rows.empty()) return plot;
  plot.script =
      "set xlabel 'time (s)'\nset ylabel 'SNR (dB)'\nset y2label 'gain'\nset ytics nomirror\nset y2tics\n"
      "set key bottom left\n";
  if (rows.size() > 1 && rows.back()[0] / rows.front()[0] > 20) plot.script += "set logscale x\nset format x '1e%L'\n";
  plot.script += data_block("drift", rows);
  plot.script +=
      "plot $drift using 1:2 with linespoints linewidth 2 pointtype 7 linecolor rgb blue title 'SNR', "
      "$drift using 1:3 axes x1y2 with linespoints linewidth 2 pointtype 5 linecolor rgb orange title 'gain (right)'";
  if (std::isfinite(at_zero)) {
    plot.script += ", " + std::to_string(at_zero) + " with lines dashtype 2 linecolor rgb 'gray40' title 'SNR at 0 s'";
  }
  plot.script += "\n";
  return plot;
}

Plot latency_plot(const TraceReader& trace) {
  const auto start = trace.read_all<double>("/queries/t_start_ns");
  const auto end = trace.read_all<double>("/queries/t_end_ns");
  std::vector<double> latency;
  for (std::size_t k = 0; k < start.size(); ++k) latency.push_back(end[k] - start[k]);
  const auto rows = histogram_of(latency, bins);
  Plot plot{"latency", "Latency", "From sending a query to having its answer.", ""};
  if (rows.size() == 1) {
    plot.instead = "Every query takes " + three_digits(rows[0][0]) + " ns from sending it to having its answer.";
    return plot;
  }
  plot.script = "set xlabel 'latency (ns)'\nset ylabel 'queries'\nunset key\nset yrange [0:*]\n" +
                data_block("latency", rows) +
                "plot $latency using 1:2 with boxes fillstyle solid 0.9 noborder linecolor rgb blue\n";
  return plot;
}

Plot energy_plot(const Json& summary) {
  const Json& energy = summary.at("energy_pj");
  const auto queries = summary.at("queries").get<double>();
  auto parts = named_values(energy.at("by_component"), 1 / queries);
  parts.erase(std::remove_if(parts.begin(), parts.end(), [](const auto& part) { return part.first == "programming"; }),
              parts.end());
  return {"energy", "Energy of a query",
          three_digits(energy.at("per_query").get<double>()) + " pJ together, programming left out.",
          bar_script(parts, "energy (pJ)")};
}

Plot utilisation_plot(const Json& summary) {
  return {"utilisation", "Utilisation", "Share of the time in which each unit of the chip works.",
          bar_script(named_values(summary.at("utilisation"), 100), "busy (%)")};
}

Plot conductance_plot(const Json& histogram) {
  const auto edges = histogram.at("edges_us").get<std::vector<double>>();
  Plot plot{"conductance", "Conductances", "How many devices hold which conductance.", ""};
  std::string curves;
  const char* colours[] = {"orange", "blue", "green"};
  std::size_t number = 0;
  for (const auto& [name, counts] : histogram.items()) {
    if (name == "edges_us" || !counts.is_array() || counts.size() + 1 != edges.size()) continue;
    std::vector<std::vector<double>> rows;
    for (std::size_t k = 0; k + 1 < edges.size(); ++k) rows.push_back({edges[k], counts[k].get<double>()});
    rows.push_back({edges.back(), counts.back().get<double>()});
    const std::string block = "series" + std::to_string(number);
    plot.script += data_block(block, rows);
    curves += std::string(curves.empty() ? "" : ", ") + "$" + block +
              " using 1:2 with steps linewidth 2 linecolor rgb " + colours[number % 3] + " title " +
              gnuplot_text(spaced(name));
    ++number;
  }
  if (curves.empty()) return plot;
  plot.script +=
      "set xlabel 'conductance (µS)'\nset ylabel 'devices'\nset logscale y\nset yrange [0.8:*]\n"
      "set key top right\nplot " +
      curves + "\n";
  return plot;
}

Plot saturation_plot(const Json& by_adc, double queries) {
  std::vector<std::vector<double>> rows;
  double largest = 0;
  for (const Json& tile : by_adc) {
    for (const Json& count : tile) {
      rows.push_back({static_cast<double>(rows.size()), count.get<double>() / queries});
      largest = std::max(largest, rows.back()[1]);
    }
  }
  Plot plot{"saturation", "Saturation by converter", "Saturated conversions of each ADC for each query.", ""};
  if (largest == 0) {
    plot.instead = "None of " + grouped(static_cast<std::int64_t>(rows.size())) + " converters saturated.";
    return plot;
  }
  plot.script =
      "set xlabel 'ADC, tile by tile'\nset ylabel 'saturated conversions a query'\nunset key\n"
      "set yrange [0:*]\n" +
      data_block("adc", rows) + "plot $adc using 1:2 with boxes fillstyle solid 0.9 noborder linecolor rgb blue\n";
  return plot;
}

}  // namespace

std::vector<Plot> simulation_plots(const Json& summary, const TraceReader& trace) {
  std::vector<Plot> plots = {transfer_plot(trace), error_plot(summary), drift_plot(summary)};
  if (summary.contains("conductance_histogram") && summary.at("conductance_histogram").is_object()) {
    plots.push_back(conductance_plot(summary.at("conductance_histogram")));
  }
  if (summary.contains("saturated_by_adc")) {
    plots.push_back(saturation_plot(summary.at("saturated_by_adc"), summary.at("queries").get<double>()));
  }
  plots.push_back(latency_plot(trace));
  plots.push_back(energy_plot(summary));
  plots.push_back(utilisation_plot(summary));
  return plots;
}

}  // namespace zbphw
