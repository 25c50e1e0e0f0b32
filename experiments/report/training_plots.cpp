#include <algorithm>

#include "experiments/report/plot.hpp"

namespace zbphw {
namespace {

// {step, value} of every line of an event that has the number.
std::vector<std::vector<double>> series_of(const std::vector<Json>& log, const char* event, const char* key) {
  std::vector<std::vector<double>> rows;
  for (const Json& line : log) {
    if (line.value("event", "") != event || !line.contains(key) || !line[key].is_number()) continue;
    rows.push_back({line.value("step", 0.0), line[key].get<double>()});
  }
  return rows;
}

Plot loss_plot(const std::vector<Json>& log) {
  const auto train = series_of(log, "train", "loss");
  const auto validation = series_of(log, "validation", "loss");
  Plot plot{"loss", "Loss", "Cross-entropy of each update's batch, and of the validation span.", ""};
  if (train.empty() && validation.empty()) return plot;
  plot.script = "set xlabel 'update'\nset ylabel 'loss (nats a token)'\nset key top right\n" +
                data_block("train", train) + data_block("validation", validation) + "plot ";
  if (!train.empty()) plot.script += "$train using 1:2 with lines linewidth 1 linecolor rgb 'gray60' title 'training'";
  if (!train.empty() && !validation.empty()) plot.script += ", ";
  if (!validation.empty()) {
    plot.script +=
        "$validation using 1:2 with linespoints linewidth 2 pointtype 7 linecolor rgb blue title 'validation'";
  }
  plot.script += "\n";
  return plot;
}

Plot line_plot(const std::string& name, const std::string& title, const std::string& caption, const std::string& axis,
               const std::vector<std::vector<double>>& rows, const std::string& more) {
  Plot plot{name, title, caption, ""};
  if (rows.empty()) return plot;
  plot.script = "set xlabel 'update'\nset ylabel " + gnuplot_text(axis) + "\nunset key\n" + more +
                data_block("rows", rows) + "plot $rows using 1:2 with lines linewidth 2 linecolor rgb blue\n";
  return plot;
}

Plot nsr_plot(const std::vector<Json>& log) {
  Plot plot{"nsr", "Noise-to-signal ratio of the gradients",
            "Measured against the exact product through each kind of block so far, and what the law predicts (dashed).",
            ""};
  std::vector<std::string> kinds;
  for (const Json& line : log) {
    if (line.value("event", "") != "audit" || !line.contains("nsr")) continue;
    for (const auto& item : line["nsr"].items()) {
      if (std::find(kinds.begin(), kinds.end(), item.key()) == kinds.end()) kinds.push_back(item.key());
    }
  }
  std::string curves;
  const char* colours[] = {"blue", "orange", "green"};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::vector<std::vector<double>> rows;
    for (const Json& line : log) {
      if (line.value("event", "") != "audit" || !line["nsr"].contains(kinds[k])) continue;
      const Json& nsr = line["nsr"][kinds[k]];
      rows.push_back({line.value("step", 0.0), nsr.at("measured").get<double>(), nsr.at("predicted").get<double>()});
    }
    const std::string block = "kind" + std::to_string(k);
    const std::string colour = colours[k % 3];
    plot.script += data_block(block, rows);
    curves += std::string(curves.empty() ? "" : ", ") + "$" + block +
              " using 1:2 with linespoints linewidth 2 pointtype 7 linecolor rgb " + colour + " title " +
              gnuplot_text(kinds[k]) + ", $" + block + " using 1:3 with lines linewidth 1.5 dashtype 2 linecolor rgb " +
              colour + " notitle";
  }
  if (curves.empty()) return plot;
  plot.script +=
      "set xlabel 'update'\nset ylabel 'noise-to-signal ratio'\nset logscale y\nset key center right\nplot " + curves +
      "\n";
  return plot;
}

}  // namespace

std::vector<Plot> training_plots(const std::vector<Json>& log) {
  std::vector<Plot> plots = {loss_plot(log), nsr_plot(log)};
  plots.push_back(line_plot("learning_rate", "Learning rate", "AdamW's, as the schedule gives it.", "learning rate",
                            series_of(log, "train", "lr"), ""));
  plots.push_back(line_plot("gradient", "Gradient norm", "Before clipping.", "norm",
                            series_of(log, "train", "grad_norm"), "set logscale y\n"));
  return plots;
}

}  // namespace zbphw
