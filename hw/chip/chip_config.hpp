// The chip around a block: link, converters, array and digital part, with the time and energy of each.
//
// One description serves every fidelity: the analytic ledger (`noisy`), the loose SystemC transaction and the event by
// event simulation all take their durations and energies from here. Every constant set names its source, because
// published figures for "an 8-bit conversion" differ by a factor of 100.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "hw/meter.hpp"

namespace zbphw {

struct LinkConfig {
  double latency_ns = 0;           // of one query's request and answer together; 0: the block sits beside its user
  double bandwidth_gb_per_s = 16;  // payload: the codes of both converters, packed
  double energy_pj_per_byte = 0;
  std::string source = "not stated";
};

struct DacConfig {
  double settle_ns = 1;
  double energy_pj = 0;  // of one conversion
  std::string source = "not stated";
};

struct ArrayConfig {
  double settle_ns = 10;          // of the array or analog core after its inputs changed
  double energy_pj_per_cell = 0;  // of one query, per driven crosspoint (or per output of an analog core)
  std::string source = "not stated";
};

// A successive-approximation converter takes base + per_bit * bits for one conversion.
struct AdcTimingConfig {
  std::int64_t columns_per_adc = 8;  // outputs that share one converter, one after the other
  double conversion_base_ns = 1;
  double conversion_per_bit_ns = 1;
  double energy_pj = 0;  // of one conversion
  std::string source = "not stated";
};

struct DigitalConfig {
  double latency_ns = 0;
  double energy_pj_per_output = 0;
  std::string source = "not stated";
};

struct ChipConfig {
  LinkConfig link;
  DacConfig dac;
  ArrayConfig array;
  AdcTimingConfig adc;
  DigitalConfig digital;
  std::int64_t parallel_rows = 1;  // copies of the block that serve rows side by side
};
void describe(Fields& f, LinkConfig& c);
void describe(Fields& f, DacConfig& c);
void describe(Fields& f, ArrayConfig& c);
void describe(Fields& f, AdcTimingConfig& c);
void describe(Fields& f, DigitalConfig& c);
void describe(Fields& f, ChipConfig& c);

// What one query is, as the chip sees it.
struct QueryShape {
  std::int64_t inputs = 0;   // driven, DAC conversions
  std::int64_t outputs = 0;  // read
  std::int64_t cells = 0;    // crosspoints driven (inputs * outputs of an array; outputs of an analog core)
  int dac_bits = 16;         // width of the codes on the link; an ideal converter counts as 16 bits
  int adc_bits = 16;
  std::int64_t partial_sums = 1;  // conversions of each output: arrays whose results are added up on the digital side
};

// The stages of one query in their order: seconds, in whole picoseconds.
struct QueryTiming {
  double link_in_s = 0;
  double dac_s = 0;
  double array_s = 0;
  double conversions_s = 0;  // all rounds of the shared ADCs
  double digital_s = 0;
  double link_out_s = 0;

  double latency_s() const { return link_in_s + dac_s + array_s + conversions_s + digital_s + link_out_s; }
};

QueryTiming query_timing(const ChipConfig& chip, const QueryShape& shape);
EnergyByComponent query_energy(const ChipConfig& chip, const QueryShape& shape);

// Time in which `rows` sequences of `queries_per_row` queries are served, parallel_rows of them side by side.
double batch_duration_s(const ChipConfig& chip, double query_latency_s, std::int64_t rows,
                        std::int64_t queries_per_row);

}  // namespace zbphw
