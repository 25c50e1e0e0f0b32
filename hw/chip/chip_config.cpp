#include "hw/chip/chip_config.hpp"

#include <cmath>

namespace zbphw {
namespace {

constexpr double ns = 1e-9;
constexpr double pj = 1e-12;
// A second: far beyond any stage, and a run of them still counts in 64 bits of picoseconds.
constexpr double longest_ns = 1e9;

// Stages last whole picoseconds: the clock of the event simulation, so that every fidelity gives the same totals.
double whole_ps(double seconds) { return std::round(seconds * 1e12) * 1e-12; }

double payload_bytes(std::int64_t values, int bits) {
  const std::int64_t whole = (values * bits + 7) / 8;
  return static_cast<double>(whole);
}

}  // namespace

void describe(Fields& f, LinkConfig& c) {
  f.number("latency_ns", c.latency_ns, between(0, longest_ns), "of one query's request and answer together");
  f.number("bandwidth_gb_per_s", c.bandwidth_gb_per_s, above(0), "payload bandwidth");
  f.number("energy_pj_per_byte", c.energy_pj_per_byte, at_least(0), "energy of one payload byte, pJ");
  f.text("source", c.source, "where these constants are from");
}

void describe(Fields& f, DacConfig& c) {
  f.number("settle_ns", c.settle_ns, between(0, longest_ns), "settling of the input converters");
  f.number("energy_pj", c.energy_pj, at_least(0), "energy of one input conversion");
  f.text("source", c.source, "where these constants are from");
}

void describe(Fields& f, ArrayConfig& c) {
  f.number("settle_ns", c.settle_ns, between(0, longest_ns), "settling of the array or analog core");
  f.number("energy_pj_per_cell", c.energy_pj_per_cell, at_least(0), "energy of one driven cell in one query, pJ");
  f.text("source", c.source, "where these constants are from");
}

void describe(Fields& f, AdcTimingConfig& c) {
  f.integer("columns_per_adc", c.columns_per_adc, between(1, 65536), "outputs that share one converter");
  f.number("conversion_base_ns", c.conversion_base_ns, between(0, longest_ns),
           "part of a conversion that no bit costs");
  f.number("conversion_per_bit_ns", c.conversion_per_bit_ns, between(0, longest_ns),
           "part of a conversion that each bit costs");
  f.number("energy_pj", c.energy_pj, at_least(0), "energy of one output conversion");
  f.text("source", c.source, "where these constants are from");
}

void describe(Fields& f, DigitalConfig& c) {
  f.number("latency_ns", c.latency_ns, between(0, longest_ns), "digital part of one query");
  f.number("energy_pj_per_output", c.energy_pj_per_output, at_least(0),
           "digital energy of one conversion's result, pJ");
  f.text("source", c.source, "where these constants are from");
}

void describe(Fields& f, ChipConfig& c) {
  f.object("link", c.link, "host link");
  f.object("dac", c.dac, "input converters: time and energy");
  f.object("array", c.array, "array or analog core: time and energy");
  f.object("adc", c.adc, "output converters: time and energy");
  f.object("digital", c.digital, "digital accumulation");
  f.integer("parallel_rows", c.parallel_rows, between(1, 1 << 20), "copies of the block that serve rows side by side");
}

QueryTiming query_timing(const ChipConfig& chip, const QueryShape& shape) {
  QueryTiming t;
  const double bytes_per_s = chip.link.bandwidth_gb_per_s * 1e9;
  t.link_in_s = whole_ps(chip.link.latency_ns * ns / 2 + payload_bytes(shape.inputs, shape.dac_bits) / bytes_per_s);
  const auto slices = static_cast<double>(shape.input_slices);
  t.dac_s = slices * whole_ps(chip.dac.settle_ns * ns);
  t.array_s = slices * whole_ps(chip.array.settle_ns * ns);
  const double conversion_s =
      whole_ps((chip.adc.conversion_base_ns + chip.adc.conversion_per_bit_ns * shape.adc_bits) * ns);
  // A converter serves its columns one after the other; all converters work side by side.
  const auto rounds =
      static_cast<double>(shape.outputs < chip.adc.columns_per_adc ? shape.outputs : chip.adc.columns_per_adc);
  t.conversions_s = slices * rounds * conversion_s;
  t.digital_s = whole_ps(chip.digital.latency_ns * ns);
  t.link_out_s = whole_ps(chip.link.latency_ns * ns / 2 + payload_bytes(shape.outputs, shape.adc_bits) / bytes_per_s);
  return t;
}

EnergyByComponent query_energy(const ChipConfig& chip, const QueryShape& shape) {
  EnergyByComponent e;
  const double bytes = payload_bytes(shape.inputs, shape.dac_bits) + payload_bytes(shape.outputs, shape.adc_bits);
  e.link_j = bytes * chip.link.energy_pj_per_byte * pj;
  e.dac_j = static_cast<double>(shape.dac_conversions()) * chip.dac.energy_pj * pj;
  e.array_j = static_cast<double>(shape.cells * shape.input_slices) * chip.array.energy_pj_per_cell * pj;
  const auto conversions = static_cast<double>(shape.adc_conversions());
  e.adc_j = conversions * chip.adc.energy_pj * pj;
  e.digital_j = conversions * chip.digital.energy_pj_per_output * pj;
  return e;
}

double batch_duration_s(const ChipConfig& chip, double query_latency_s, std::int64_t rows,
                        std::int64_t queries_per_row) {
  const std::int64_t turns = (rows + chip.parallel_rows - 1) / chip.parallel_rows;
  return static_cast<double>(turns * queries_per_row) * query_latency_s;
}

}  // namespace zbphw
