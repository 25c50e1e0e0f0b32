#include "experiments/report/plot.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace zbphw {

std::string gnuplot_text(const std::string& text) {
  // Within single quotes gnuplot only looks for the quote itself, which is written twice.
  std::string result = "'";
  for (const char c : text) {
    if (c == '\n') continue;
    result += c;
    if (c == '\'') result += c;
  }
  return result + "'";
}

std::string data_block(const std::string& name, const std::vector<std::vector<double>>& rows) {
  std::ostringstream out;
  out.precision(9);
  out << "$" << name << " << EOD\n";
  for (const std::vector<double>& row : rows) {
    for (const double value : row) {
      if (std::isfinite(value)) {
        out << value << " ";
      } else {
        out << "NaN ";
      }
    }
    out << "\n";
  }
  out << "EOD\n";
  return out.str();
}

std::string bar_script(const std::vector<std::pair<std::string, double>>& bars, const std::string& unit) {
  if (std::all_of(bars.begin(), bars.end(), [](const auto& bar) { return bar.second == 0; })) return "";
  std::vector<std::vector<double>> rows;
  double lowest = 0;
  for (const auto& bar : bars) lowest = std::min(lowest, bar.second);
  std::ostringstream out;
  out << "set ytics nomirror (";
  for (std::size_t k = 0; k < bars.size(); ++k) {
    // The first at the top.
    const double place = static_cast<double>(bars.size() - k);
    rows.push_back({place, bars[k].second});
    out << (k > 0 ? ", " : "") << gnuplot_text(bars[k].first) << " " << place;
  }
  out << ")\nset xlabel " << gnuplot_text(unit) << "\nset yrange [0.4:" << static_cast<double>(bars.size()) + 0.6
      << "]\nset xrange [" << lowest << ":*]\nset grid xtics noytics\nunset key\n"
      << data_block("bars", rows)
      << "plot $bars using 2:1:(0):2:($1-0.35):($1+0.35) with boxxyerror fillstyle solid 0.9 noborder linecolor rgb "
         "blue\n";
  return out.str();
}

std::vector<std::vector<double>> histogram_of(const std::vector<double>& values, std::size_t bins) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (values.empty()) return {};
  if (*low == *high) return {{*low, static_cast<double>(values.size())}};
  const double width = (*high - *low) / static_cast<double>(bins);
  std::vector<std::vector<double>> rows;
  for (std::size_t k = 0; k < bins; ++k) rows.push_back({*low + (static_cast<double>(k) + 0.5) * width, 0});
  for (const double value : values) {
    const auto bin = static_cast<std::size_t>((value - *low) / width);
    rows[std::min(bin, bins - 1)][1] += 1;
  }
  return rows;
}

}  // namespace zbphw
