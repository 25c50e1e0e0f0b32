#include "hw/crossbar/crossbar_config.hpp"

namespace zbphw {

std::vector<std::pair<WeightScale, std::string>> Choices<WeightScale>::all() {
  return {
      {WeightScale::per_matrix, "per_matrix"}, {WeightScale::per_output, "per_output"}, {WeightScale::fixed, "fixed"}};
}

void describe(Fields& f, WeightMappingConfig& c) {
  f.choice("scale", c.scale, "which weight is the largest that a pair of cells represents");
  f.number("weight_full_scale", c.weight_full_scale, above(0), "largest weight of a fixed scale");
  f.flag("clip", c.clip, "clip weights beyond a fixed scale; false: refuse them");
  f.integer("slices", c.slices, between(1, 16), "pairs of cells for each weight, of falling significance");
  f.integer("slice_base", c.slice_base, between(2, 256), "ratio of the significances of neighbouring slices");
}

void describe(Fields& f, ProgrammingCostConfig& c) {
  f.number("write_ns", c.write_ns, at_least(0), "one write of one device with its verification");
  f.number("energy_pj_per_write", c.energy_pj_per_write, at_least(0), "energy of one write, pJ");
  f.integer("parallel_writes", c.parallel_writes, between(1, 1 << 30), "devices written at the same time");
  f.text("source", c.source, "where these constants are from");
}

std::vector<std::pair<LineSolver, std::string>> Choices<LineSolver>::all() {
  return {{LineSolver::exact, "exact"}, {LineSolver::fast, "fast"}};
}

void describe(Fields& f, LineConfig& c) {
  describe(f, c.resistance);
  f.choice("solver", c.solver, "exact: nodal analysis, once for each state; fast: iterations for each query");
  f.number("tolerance", c.tolerance, between(1e-12, 0.1),
           "of the fast solver: Kirchhoff's law may leave over this part of the cells' current");
  f.integer("iteration_limit", c.iteration_limit, between(1, 1e6), "of the fast solver, for each query");
}

void describe(Fields& f, ColumnMismatchConfig& c) {
  f.number("gain_spread", c.gain_spread, between(0, 1), "standard deviation of a column's gain");
  f.number("offset_spread_fraction", c.offset_spread_fraction, between(0, 1),
           "standard deviation of a column's offset, of the ADC's full scale");
  f.text("source", c.source, "where these constants are from");
}

void describe(Fields& f, CrossbarConfig& c) {
  f.integer("tile_rows", c.tile_rows, between(1, 65536), "inputs of one array");
  f.integer("tile_columns", c.tile_columns, between(1, 65536), "outputs of one array, a pair of cells each");
  f.required().raw("cell", c.cell, "memory cell: {\"preset\": name, ...} or {\"model\": name, ...}");
  f.object("mapping", c.mapping, "weights to conductances");
  f.object("write_verify", c.write_verify, "program-and-verify loop");
  f.object("dac", c.dac, "input converter");
  f.integer("input_slice_bits", c.input_slice_bits, between(0, 15),
            "bits of an input's magnitude that are driven at a time; 0: the whole code");
  f.require(c.input_slice_bits == 0 || (c.dac.bits && c.dac.grid == Grid::mid_tread && c.dac.dither == Dither::none),
            "input_slice_bits", "bit-serial inputs need a mid_tread DAC with a number of bits and no dither");
  f.object("adc", c.adc, "output converter, in uS times the DAC's range");
  f.number("output_noise_fraction", c.output_noise_fraction, at_least(0),
           "noise at the ADC beside the cells' own, of its full scale");
  f.text("output_noise_source", c.output_noise_source, "where the output noise is from");
  f.number("input_noise_fraction", c.input_noise_fraction, at_least(0), "noise of the DAC, of its full scale");
  f.text("input_noise_source", c.input_noise_source, "where the input noise is from");
  f.number("comparator_noise_steps", c.comparator_noise_steps, at_least(0), "noise of the ADC's decisions, in steps");
  f.text("comparator_noise_source", c.comparator_noise_source, "where the comparator noise is from");
  f.require(c.comparator_noise_steps == 0 || c.adc.bits, "comparator_noise_steps",
            "an ideal ADC has no steps; give adc.bits, or use output_noise_fraction");
  f.object("column_mismatch", c.column_mismatch, "gain and offset of columns, fixed for a chip");
  f.optional_object("lines", c.lines, "resistance of word and bit lines");
  f.flag("drift_compensation", c.drift_compensation, "scale outputs by a calibration run");
  f.number("state_refresh_s", c.state_refresh_s, at_least(0), "how old the state that queries see may become");
  f.integer("calibration_queries", c.calibration_queries, between(1, 1 << 20), "queries of a calibration run");
  f.object("programming", c.programming, "time and energy of writing");
  f.object("chip", c.chip, "time and energy of queries");
  // Which rows float would depend on each query's zeros; only a held row keeps the array one matrix.
  f.require(!c.lines || c.lines->resistance.idle_rows == IdleRows::held_at_zero, "lines.idle_rows",
            "a crossbar block drives idle rows: use held_at_zero");
}

CrossbarEffects CrossbarEffects::none() {
  CrossbarEffects effects;
  for (const auto& [name, member] : crossbar_effects()) effects.*member = false;
  return effects;
}

const std::vector<std::pair<std::string, bool CrossbarEffects::*>>& crossbar_effects() {
  static const std::vector<std::pair<std::string, bool CrossbarEffects::*>> effects = {
      {"programming", &CrossbarEffects::programming},
      {"device_to_device", &CrossbarEffects::device_to_device},
      {"temperature", &CrossbarEffects::temperature},
      {"drift", &CrossbarEffects::drift},
      {"read_noise", &CrossbarEffects::read_noise},
      {"input_noise", &CrossbarEffects::input_noise},
      {"comparator_noise", &CrossbarEffects::comparator_noise},
      {"column_mismatch", &CrossbarEffects::column_mismatch},
      {"dac", &CrossbarEffects::dac},
      {"adc", &CrossbarEffects::adc},
      {"line_resistance", &CrossbarEffects::line_resistance},
      {"saturation", &CrossbarEffects::saturation}};
  return effects;
}

}  // namespace zbphw
