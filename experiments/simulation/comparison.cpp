#include "experiments/simulation/comparison.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace zbphw {
namespace {

constexpr int label_width = 30;
constexpr int column_width = 18;

struct Line {
  std::string label;
  Json::json_pointer value;
};

std::string shown(const Json& result, const Json::json_pointer& where) {
  if (!result.contains(where)) return "-";
  const Json& value = result.at(where);
  if (!value.is_number()) return value.is_string() ? value.get<std::string>() : value.dump();
  std::ostringstream out;
  out << std::setprecision(4) << value.get<double>();
  return out.str();
}

void add_lines_of(const std::vector<Json>& results, const std::string& object, const std::string& label,
                  std::vector<Line>& lines) {
  std::vector<std::string> keys;
  for (const Json& result : results) {
    const Json& part = result.at(Json::json_pointer(object));
    for (const auto& item : part.items()) {
      if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) keys.push_back(item.key());
    }
  }
  for (const std::string& key : keys) lines.push_back({label + key, Json::json_pointer(object) / key});
}

}  // namespace

std::string comparison_text(const std::vector<Json>& results) {
  std::vector<Line> lines = {{"", Json::json_pointer("/device")},
                             {"SNR, dB", Json::json_pointer("/snr_db")},
                             {"effective bits", Json::json_pointer("/effective_bits")},
                             {"NSR", Json::json_pointer("/nsr")},
                             {"bias", Json::json_pointer("/bias")},
                             {"saturated fraction", Json::json_pointer("/saturated_fraction")}};
  add_lines_of(results, "/error_by_source", "NSR gone without ", lines);
  lines.push_back({"latency, ns", Json::json_pointer("/latency_ns/mean")});
  lines.push_back({"queries/s", Json::json_pointer("/queries_per_s")});
  lines.push_back({"energy a query, pJ", Json::json_pointer("/energy_pj/per_query")});
  add_lines_of(results, "/energy_pj/by_component", "total energy, pJ: ", lines);
  std::ostringstream out;
  for (const Line& line : lines) {
    out << std::left << std::setw(label_width) << line.label << std::right;
    for (const Json& result : results) out << std::setw(column_width) << shown(result, line.value);
    out << "\n";
  }
  return out.str();
}

}  // namespace zbphw
