/* zbphw_plugin.h: how a chip, or somebody's simulator of one, is attached to zbphw. Version 1. C99, no other headers of
 * ours needed: copy this file into the driver's tree.
 *
 * A plugin is a shared library that exports one function,
 *
 *     const zbphw_plugin *zbphw_plugin_v1(void);
 *
 * which returns a table of functions that stays valid as long as the library is loaded. A device file names the library
 * ("plugin": "libmychip.so"); docs/hardware_in_the_loop.md is the guide.
 *
 * Values. Inputs and outputs are float (IEEE 754 binary32) in the model's units, matrices are row by row without gaps:
 * [rows, width] has value (r, j) at r * width + j. Float, not double: no converter has more than 24 bits, and half as
 * many bytes travel. Times are seconds, energies joules, temperatures kelvin, all double.
 *
 * Memory. Every pointer that zbphw passes in is valid during that call only. Texts that the plugin returns are the
 * plugin's, UTF-8, ended by a zero byte, and valid until the next call for the same chip. Nobody frees what the other
 * allocated.
 *
 * Threads. zbphw makes one call at a time into a library, from one thread; the plugin may use threads of its own
 * inside.
 *
 * Failure. A function that returns int returns a zbphw_status. After any other than ZBPHW_OK zbphw asks last_error(),
 * ends the run with exit code 5 and the number of the query (of this block, from 0), and closes the chip. A plugin
 * never ends the process, never lets a C++ exception out, and leaves standard output alone: it holds zbphw's results.
 *
 * Growth. Structures of this version never change; a newer zbphw that needs more has a new entry function beside this
 * one. struct_size holds sizeof of the structure as its writer knew it.
 */
#ifndef ZBPHW_PLUGIN_H
#define ZBPHW_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZBPHW_PLUGIN_VERSION 1u

/* One opened block of a chip; what is in it is the plugin's business. */
typedef struct zbphw_chip zbphw_chip;

typedef enum zbphw_status {
  ZBPHW_OK = 0,
  ZBPHW_FAILED = 1,      /* the chip did not do it */
  ZBPHW_UNSUPPORTED = 2, /* this chip cannot do it at all */
  ZBPHW_BAD_REQUEST = 3  /* zbphw asked for something that makes no sense to the plugin: a width, an option */
} zbphw_status;

/* What zbphw wants of a block. */
typedef struct zbphw_open_request {
  uint32_t struct_size;
  uint32_t threads;         /* CPU threads that the plugin's own software may use */
  const char* block;        /* kind: "softmax", "swiglu", "crossbar_linear", or one of the plugin's own */
  int64_t input_width;      /* 0: whatever follows from the kind and output_width */
  int64_t output_width;     /* at least 1 */
  int64_t causal_period;    /* 0, or: row r drives and reads its first (r mod causal_period) + 1 entries alone */
  uint64_t seed;            /* for simulators: of this chip's noise and mismatch */
  const char* options_json; /* "options" of the device file, a JSON object */
} zbphw_open_request;

/* Which queries these are. A simulator addresses its noise by these integers and the seed, so that a result does not
 * depend on how a batch was cut, and a resumed run repeats it; a real chip may ignore all of them. */
typedef struct zbphw_slot {
  uint32_t step;            /* the pass: 2 * training step, and one more for its validation */
  uint32_t block;           /* which block of the model asks: its layer */
  uint32_t first_row;       /* number of the batch's first row; row r of the batch is first_row + r */
  uint32_t queries_per_row; /* queries that each row gets in a sequence, at least 1 */
  uint32_t query_in_row;    /* which of them this is, in time order */
  uint32_t reserved;        /* 0 */
  double start_s;           /* device time at which the whole sequence starts; negative: now */
} zbphw_slot;

/* Rows are independent physical queries. */
typedef struct zbphw_batch {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  zbphw_slot slot;
  int64_t rows;        /* at least 1 */
  const float* inputs; /* [rows, input_width], finite where they are driven */
  /* [rows, input_width]: what converters whose range follows the input take it from, the same for all queries of a
   * sequence; NULL: the inputs. range_margin is added to the largest magnitude. Chips with fixed ranges ignore both. */
  const float* range_point;
  double range_margin;
  /* settle() alone: [rows, output_width], the force on each output; NULL: none. NULL in query(). */
  const float* nudge;
} zbphw_batch;

/* Room for the answer, filled with zeros. `*_written` are 0 on entry; the plugin sets them to the number of floats that
 * it wrote, and zbphw refuses an answer of another size than it asked for. */
typedef struct zbphw_readout {
  uint32_t struct_size;
  uint32_t reserved;       /* 0 */
  float* values;           /* [rows, output_width]: what was read. NaN or infinity ends the run. */
  int64_t values_written;  /* rows * output_width */
  float* applied;          /* [rows, input_width]: the inputs as the DAC produced them */
  int64_t applied_written; /* rows * input_width, or 0: zbphw rounds the inputs as "dac" of describe() says */
} zbphw_readout;

/* Central pairs of random signs about one point, contracted with a cotangent: for k < probes
 *     response_k = cotangent . (y(x + a u_k) - y(x - a u_k)) / (2 a),   estimate = (1 / probes) sum_k response_k / u_k.
 * Only for simulators that can do this faster than query by query and draw the same u_k as zbphw does
 * (hw/physical_block.hpp, rademacher_signs): the result must be the one that queries give, to float rounding. */
typedef struct zbphw_probe {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  zbphw_slot slot;   /* queries_per_row and query_in_row are to be ignored */
  int64_t rows;
  const float* point;     /* [rows, input_width] */
  const float* cotangent; /* [rows, output_width] */
  int64_t probes;
  double amplitude; /* a, before it is rounded to whole DAC steps */
  uint64_t seed;    /* of the signs */
} zbphw_probe;

typedef struct zbphw_probe_readout {
  uint32_t struct_size;
  uint32_t reserved;         /* 0 */
  float* responses;          /* [rows, probes] */
  int64_t responses_written; /* rows * probes */
  float* estimate;           /* [rows, input_width] */
  int64_t estimate_written;  /* rows * input_width */
} zbphw_probe_readout;

/* Figures of the two ports at given inputs. */
typedef struct zbphw_ports {
  uint32_t struct_size;
  uint32_t first_row; /* number of the first row */
  int64_t rows;
  const float* range_point; /* [rows, input_width] */
  double range_margin;
  float* dac_step; /* [rows]: one step of the DAC at this row's range; 0: none, or finer than matters */
  int64_t dac_step_written;
  float* readout_noise; /* [rows]: standard deviation of one readout, read noise and conversion together */
  int64_t readout_noise_written;
} zbphw_ports;

typedef struct zbphw_weights {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  int64_t outputs;
  int64_t inputs;
  const float* values; /* [outputs, inputs] */
} zbphw_weights;

/* What a chip has done since it was opened (or told by resume()), and how it is now. */
typedef struct zbphw_totals {
  uint32_t struct_size;
  uint32_t reserved;    /* 0 */
  double clock_s;       /* device time since the first calibration (activation blocks) or programming (arrays) */
  double temperature_k; /* 0: not measured */
  int64_t queries;
  int64_t dac_conversions;
  int64_t adc_conversions;
  int64_t saturated_inputs;  /* conversions beyond the DAC's range */
  int64_t saturated_outputs; /* conversions beyond the ADC's range */
  double busy_s;             /* time spent on queries and programming */
  double link_j;             /* energies, by part of the chip; 0 where not known */
  double dac_j;
  double array_j;
  double adc_j;
  double digital_j;
  double programming_j;
} zbphw_totals;

typedef struct zbphw_plugin {
  uint32_t version;     /* ZBPHW_PLUGIN_VERSION */
  uint32_t struct_size; /* sizeof(zbphw_plugin) */

  /* A JSON object: {"name": "...", "blocks": ["softmax", ...]}: the kinds that open() knows. */
  const char* (*describe_library)(void);

  /* Makes one block ready; a library may have many open at a time. On failure *chip is not touched. */
  int (*open)(const zbphw_open_request* request, zbphw_chip** chip);

  /* A JSON object about an opened block:
   *     {"input_width": 64, "output_width": 64,                   required, as requested
   *      "locality": "row",                                       for kinds of the plugin's own: elementwise, row,
   * dense "holds_weights": false,                                  true: program() comes before the first query "dac":
   * {"bits": 8, "range": "fixed", "full_scale": 8},   keys and defaults of a converter in a device file "adc": {...},
   *      "readout_noise": 0.002}                                  standard deviation of one readout, in output units */
  const char* (*describe)(zbphw_chip* chip);

  /* Why the last call for this chip failed; NULL: why the last open() failed. Never NULL itself. */
  const char* (*last_error)(zbphw_chip* chip);

  int (*query)(zbphw_chip* chip, const zbphw_batch* batch, zbphw_readout* readout);

  void (*close)(zbphw_chip* chip);

  /* The rest may be NULL. */

  /* Writes weights into a block that holds some. */
  int (*program)(zbphw_chip* chip, const zbphw_weights* weights);

  /* An equilibrium block: drives the inputs, pulls the outputs by the nudge, waits until the state rests, reads it. */
  int (*settle)(zbphw_chip* chip, const zbphw_batch* batch, zbphw_readout* readout);

  int (*probe)(zbphw_chip* chip, const zbphw_probe* probe, zbphw_probe_readout* readout);

  /* NULL: zbphw takes both figures from describe(). */
  int (*ports)(zbphw_chip* chip, zbphw_ports* ports);

  /* Asked after every call that may change them. NULL: zbphw counts queries and takes the time on its own clock. */
  int (*totals)(zbphw_chip* chip, zbphw_totals* totals);

  /* For simulators: sets clock and totals to those of a run that is resumed. A real chip keeps its own clock: NULL. */
  int (*resume)(zbphw_chip* chip, const zbphw_totals* totals);
} zbphw_plugin;

/* The one symbol that a plugin exports. */
const zbphw_plugin* zbphw_plugin_v1(void);

#ifdef __cplusplus
}
#endif

#endif /* ZBPHW_PLUGIN_H */
