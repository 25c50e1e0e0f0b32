#include "experiments/simulation/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "experiments/figures.hpp"

namespace zbphw {
namespace {

constexpr double thinnest = 1.5;  // a stage that takes any time is seen
constexpr double left = 130, top = 60, width = 640, lane_height = 34, bar_height = 22;

// Okabe and Ito's colours: neighbours in time differ.
constexpr std::array<const char*, 6> colours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string text_at(double x, double y, const std::string& anchor, const std::string& text) {
  std::ostringstream out;
  out << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\">" << escaped(text) << "</text>\n";
  return out.str();
}

// 1, 2 or 5 times a power of ten, so that `span` has four to ten of them.
double tick_step(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 4)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= span / 4) return factor * power;
  }
  return power;
}

std::string axis(double bottom, double span_ns) {
  std::ostringstream out;
  const double step = tick_step(span_ns);
  for (int k = 0; k * step <= span_ns * (1 + 1e-9); ++k) {
    const double x = left + width * k * step / span_ns;
    out << "<line x1=\"" << x << "\" y1=\"" << top - 10 << "\" x2=\"" << x << "\" y2=\"" << bottom
        << "\" stroke=\"#ddd\"/>\n"
        << text_at(x, bottom + 18, "middle", three_digits(k * step));
  }
  out << text_at(left + width / 2, bottom + 40, "middle", "time since the first query was sent (ns)");
  return out.str();
}

}  // namespace

std::string timeline_svg(const std::string& title, const QueryTiming& timing, const std::vector<ServedQuery>& served,
                         std::size_t most_queries) {
  const std::vector<std::pair<const char*, double>> stages = {
      {"link to chip", timing.link_in_s}, {"DAC bank", timing.dac_s},    {"array", timing.array_s},
      {"ADC bank", timing.conversions_s}, {"digital", timing.digital_s}, {"link to host", timing.link_out_s}};
  const std::size_t shown = std::min(most_queries, served.size());
  double span_ns = 0;
  for (std::size_t q = 0; q < shown; ++q) span_ns = std::max(span_ns, static_cast<double>(served[q].end_ps) * 1e-3);
  if (span_ns == 0) span_ns = 1;
  std::int64_t lanes = 1;
  for (std::size_t q = 0; q < shown; ++q) lanes = std::max(lanes, served[q].lane + 1);
  const double strip = bar_height / static_cast<double>(lanes);
  const double bottom = top + lane_height * static_cast<double>(stages.size());
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"" << bottom + 60
      << "\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << text_at(400, 28, "middle", title) << axis(bottom, span_ns);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    out << text_at(left - 12, top + lane_height * (static_cast<double>(s) + 0.5) + 4, "end", stages[s].first);
  }
  for (std::size_t q = 0; q < shown; ++q) {
    double start_ns = static_cast<double>(served[q].start_ps) * 1e-3;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const double long_ns = stages[s].second * 1e9;
      const double x = left + width * start_ns / span_ns;
      const double w = long_ns > 0 ? std::max(width * long_ns / span_ns, thinnest) : 0;
      // Queries that run side by side share a lane, each with a strip of its own.
      const double y = top + lane_height * static_cast<double>(s) + (lane_height - bar_height) / 2 +
                       strip * static_cast<double>(served[q].lane);
      if (w > 0) {
        out << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << w << "\" height=\"" << strip << "\" fill=\""
            << colours[q % colours.size()] << "\" fill-opacity=\"0.85\"><title>query " << served[q].row << ", "
            << stages[s].first << ": " << three_digits(long_ns) << " ns</title></rect>\n";
        if (w > 16 && lanes == 1) {
          out << "<g fill=\"white\">" << text_at(x + w / 2, y + bar_height - 7, "middle", std::to_string(served[q].row))
              << "</g>";
        }
      }
      start_ns += long_ns;
    }
  }
  return out.str() + "</svg>\n";
}

std::string gtkwave_save_file(const std::string& vcd_path) {
  std::ostringstream out;
  out << "[dumpfile] \"" << std::filesystem::absolute(vcd_path).string() << "\"\n[timestart] 0\n[sst_expanded] 1\n"
      << "@200\n-host\n@24\nSystemC.host.row_of_lane_0[31:0]\nSystemC.host.query_of_lane_0[31:0]\n"
      << "@200\n-bus: queries under "
         "way\n@24\nSystemC.link_to_chip.queries_inside[31:0]\nSystemC.link_to_host.queries_inside[31:0]\n"
      << "@200\n-chip: queries inside each unit\n@24\nSystemC.sequencer.queries_inside[31:0]\n"
      << "SystemC.dac_bank.queries_inside[31:0]\nSystemC.array.queries_inside[31:0]\nSystemC.adc_bank.queries_inside["
         "31:0]\n"
      << "SystemC.digital.queries_inside[31:0]\n@200\n-ADC: conversion round of lane 0\n@24\n"
      << "SystemC.adc_bank.round_of_lane_0[31:0]\n";
  return out.str();
}

}  // namespace zbphw
