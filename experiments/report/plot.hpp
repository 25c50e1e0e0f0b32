// Pictures of a run, as gnuplot draws them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/trace_reader.hpp"

namespace zbphw {

// One picture: what gnuplot is told between choosing the output and leaving, data included.
struct Plot {
  std::string name;       // of its files: "drift" gives drift.svg and drift.png
  std::string title;      // in the page, above it
  std::string caption;    // one or two sentences below it
  std::string script;     // "" when there is nothing to draw
  std::string instead{};  // then: what the page says; "" for nothing
};

// "v" as gnuplot takes it: quotes and backslashes are kept as characters, markup is off.
std::string gnuplot_text(const std::string& text);

// A data block "$name << EOD", a row a line.
std::string data_block(const std::string& name, const std::vector<std::vector<double>>& rows);

// A bar for each name; `unit` is the label of the axis. Values that are all 0 give no plot but an empty script.
std::string bar_script(const std::vector<std::pair<std::string, double>>& bars, const std::string& unit);

// Equally wide bins over the values' span: {middle, count}. One bin when all values are the same.
std::vector<std::vector<double>> histogram_of(const std::vector<double>& values, std::size_t bins);

// Of what `zbphw simulate` left: its summary, and its trace. Throws a data Error when a key is missing.
std::vector<Plot> simulation_plots(const Json& summary, const TraceReader& trace);

// Of a training log's lines.
std::vector<Plot> training_plots(const std::vector<Json>& log);

}  // namespace zbphw
