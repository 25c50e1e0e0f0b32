/* A small plugin in C99: a gate chip, swiglu alone, whose 8-bit ports are computed here. Put your driver's calls into
 * query(). Build it with
 *     cc -std=c99 -shared -fPIC -I hw/plugin my_chip.c -lm -o libmychip.so
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zbphw_plugin.h"

struct zbphw_chip {
  int64_t inputs, outputs;
  char description[200];
  const char *error;
};

static const char *open_error = "nothing has failed";

static const char *describe_library(void) { return "{\"name\": \"my chip\", \"blocks\": [\"swiglu\"]}"; }

static int open_chip(const zbphw_open_request *request, zbphw_chip **chip) {
  if (strcmp(request->block, "swiglu") != 0 || request->input_width != 2 * request->output_width) {
    open_error = "this chip has gates alone, two inputs for each output";
    return ZBPHW_BAD_REQUEST;
  }
  zbphw_chip *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL) {
    open_error = "out of memory";
    return ZBPHW_FAILED;
  }
  fresh->inputs = request->input_width;
  fresh->outputs = request->output_width;
  fresh->error = "nothing has failed";
  snprintf(fresh->description, sizeof fresh->description,
           "{\"input_width\": %lld, \"output_width\": %lld,"
           " \"dac\": {\"bits\": 8, \"range\": \"fixed\", \"full_scale\": 8}, \"readout_noise\": 0.02}",
           (long long)fresh->inputs, (long long)fresh->outputs);
  *chip = fresh;
  return ZBPHW_OK;
}

static const char *describe(zbphw_chip *chip) { return chip->description; }

static const char *last_error(zbphw_chip *chip) { return chip == NULL ? open_error : chip->error; }

/* 8 bits over -8 to 8 with a code at zero: 255 levels. */
static float through_converter(float value) {
  const float step = 16.0F / 254;
  return fminf(fmaxf(floorf(value / step + 0.5F), -127), 127) * step;
}

static int query(zbphw_chip *chip, const zbphw_batch *batch, zbphw_readout *readout) {
  for (int64_t r = 0; r < batch->rows; ++r) {
    const float *in = batch->inputs + r * chip->inputs;
    float *out = readout->values + r * chip->outputs;
    for (int64_t j = 0; j < chip->outputs; ++j) {
      const float a = through_converter(in[j]), b = through_converter(in[chip->outputs + j]);
      out[j] = through_converter(a / (1 + expf(-a)) * b);
    }
  }
  readout->values_written = batch->rows * chip->outputs;
  return ZBPHW_OK; /* applied_written stays 0: zbphw knows the DAC from describe() */
}

static void close_chip(zbphw_chip *chip) { free(chip); }

static const zbphw_plugin table = {.version = ZBPHW_PLUGIN_VERSION,
                                   .struct_size = sizeof(zbphw_plugin),
                                   .describe_library = describe_library,
                                   .open = open_chip,
                                   .describe = describe,
                                   .last_error = last_error,
                                   .query = query,
                                   .close = close_chip};

const zbphw_plugin *zbphw_plugin_v1(void) { return &table; }
