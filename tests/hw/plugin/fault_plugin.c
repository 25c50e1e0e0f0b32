/* A plugin that works until it is told not to. Options: "fault" and "at_query", counted over all blocks since the last open;
 * the environment variable ZBPHW_TEST_FAULT=<fault>@<query> stands over them. Answers exactly otherwise:
 *     softmax, swiglu      as the kinds say, causal rows too
 *     crossbar_linear      W x, after program()
 *     equilibrium          x + nudge
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zbphw_plugin.h"

#ifndef FAULT_PLUGIN_VERSION
#define FAULT_PLUGIN_VERSION ZBPHW_PLUGIN_VERSION
#endif
#ifndef FAULT_PLUGIN_SIZE
#define FAULT_PLUGIN_SIZE sizeof(zbphw_plugin)
#endif

struct zbphw_chip {
  char kind[32];
  int64_t inputs, outputs, period;
  int64_t queries;
  float *weights;
  char description[400];
};

static char fault[32] = "";
static long long at_query = 0;
static long long asked = 0;
static const char *error_text = "nothing has failed";

static const char *describe_library(void) {
  return "{\"name\": \"fault plugin\", \"blocks\": [\"softmax\", \"swiglu\", \"crossbar_linear\", \"equilibrium\"]}";
}

/* The text of an option, as zbphw writes it: no blanks. */
static void option_text(const char *options, const char *key, char *out, size_t size) {
  char pattern[64];
  snprintf(pattern, sizeof pattern, "\"%s\":\"", key);
  const char *found = strstr(options, pattern);
  out[0] = 0;
  if (found == NULL) return;
  found += strlen(pattern);
  const size_t length = strcspn(found, "\"");
  if (length < size) {
    memcpy(out, found, length);
    out[length] = 0;
  }
}

static void read_fault(const char *options) {
  option_text(options, "fault", fault, sizeof fault);
  const char *at = strstr(options, "\"at_query\":");
  if (at != NULL) at_query = atoll(at + strlen("\"at_query\":"));
  const char *forced = getenv("ZBPHW_TEST_FAULT");
  if (forced == NULL) return;
  const size_t length = strcspn(forced, "@");
  if (length >= sizeof fault) return;
  memcpy(fault, forced, length);
  fault[length] = 0;
  at_query = forced[length] == '@' ? atoll(forced + length + 1) : 0;
}

static void write_process_id(const char *options) {
  char path[300];
  option_text(options, "pid_file", path, sizeof path);
  FILE *file = path[0] != 0 ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%ld\n", (long)getpid());
  fclose(file);
}

static int is_fault(const char *name) { return strcmp(fault, name) == 0; }

static int open_chip(const zbphw_open_request *request, zbphw_chip **chip) {
  asked = 0;
  read_fault(request->options_json);
  write_process_id(request->options_json);
  if (is_fault("no open")) {
    error_text = "the chip's power is off";
    return ZBPHW_FAILED;
  }
  zbphw_chip *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL) return ZBPHW_FAILED;
  snprintf(fresh->kind, sizeof fresh->kind, "%s", request->block);
  fresh->inputs = request->input_width > 0 ? request->input_width : request->output_width;
  fresh->outputs = request->output_width;
  fresh->period = request->causal_period;
  const long long shown = (long long)fresh->inputs + (is_fault("wrong width") ? 1 : 0);
  snprintf(fresh->description, sizeof fresh->description,
           "{\"input_width\": %lld, \"output_width\": %lld, \"holds_weights\": %s,"
           " \"dac\": {\"bits\": \"ideal\"}, \"readout_noise\": 0.25%s}",
           shown, (long long)fresh->outputs, strcmp(fresh->kind, "crossbar_linear") == 0 ? "true" : "false",
           is_fault("unknown key") ? ", \"colour\": 1" : "");
  *chip = fresh;
  return ZBPHW_OK;
}

static const char *describe(zbphw_chip *chip) {
  if (is_fault("no description")) return NULL;
  return is_fault("no json") ? "sixty-four wide" : chip->description;
}

static const char *last_error(zbphw_chip *chip) {
  (void)chip;
  return error_text;
}

static void crash(void) {
  volatile int *nowhere = NULL;
  *nowhere = 1;
}

static void answer_row(const zbphw_chip *chip, int64_t row, const float *in, const float *nudge, float *out) {
  if (strcmp(chip->kind, "softmax") == 0) {
    const int64_t used = chip->period > 0 ? row % chip->period + 1 : chip->inputs;
    double sum = 0;
    for (int64_t j = 0; j < used; ++j) sum += exp(in[j]);
    for (int64_t j = 0; j < used; ++j) out[j] = (float)(exp(in[j]) / sum);
  } else if (strcmp(chip->kind, "swiglu") == 0) {
    for (int64_t j = 0; j < chip->outputs; ++j) out[j] = (float)(in[j] / (1 + exp(-in[j])) * in[chip->outputs + j]);
  } else if (strcmp(chip->kind, "crossbar_linear") == 0) {
    for (int64_t i = 0; i < chip->outputs; ++i) {
      for (int64_t j = 0; j < chip->inputs; ++j) out[i] += chip->weights[i * chip->inputs + j] * in[j];
    }
  } else {
    for (int64_t j = 0; j < chip->outputs; ++j) out[j] = in[j] + (nudge != NULL ? nudge[j] : 0);
  }
}

/* What happens before the answer. */
static int fail_before(void) {
  if (is_fault("hang")) {
    for (;;) sleep(1);
  }
  if (is_fault("crash")) crash();
  if (is_fault("exit")) _exit(3);
  if (is_fault("status")) return 99;
  if (is_fault("error")) {
    error_text = "the bias supply is out of its range";
    return ZBPHW_FAILED;
  }
  return ZBPHW_OK;
}

/* What is wrong with the answer; `row` is the place of the failing query in the batch. */
static void spoil(const zbphw_chip *chip, const zbphw_batch *batch, zbphw_readout *readout, int64_t row) {
  float *out = readout->values + row * chip->outputs;
  if (is_fault("nan")) out[1] = NAN;
  if (is_fault("infinite")) out[0] = INFINITY;
  if (is_fault("nan applied")) readout->applied[row * chip->inputs] = NAN;
  if (is_fault("short")) readout->values_written -= chip->outputs;
  if (is_fault("long")) readout->values_written += 1;
  if (is_fault("no applied")) readout->applied_written -= 1;
  if (is_fault("overrun")) readout->values[batch->rows * chip->outputs] = 1;
}

static int answer(zbphw_chip *chip, const zbphw_batch *batch, zbphw_readout *readout) {
  const long long before = asked;
  asked += batch->rows;
  chip->queries += batch->rows;
  const int fails = fault[0] != 0 && at_query >= before && at_query < asked;
  const int status = fails ? fail_before() : ZBPHW_OK;
  if (status != ZBPHW_OK) return status;
  for (int64_t r = 0; r < batch->rows; ++r) {
    answer_row(chip, batch->slot.first_row + r, batch->inputs + r * chip->inputs,
               batch->nudge != NULL ? batch->nudge + r * chip->outputs : NULL, readout->values + r * chip->outputs);
  }
  memcpy(readout->applied, batch->inputs, (size_t)(batch->rows * chip->inputs) * sizeof(float));
  readout->values_written = batch->rows * chip->outputs;
  readout->applied_written = batch->rows * chip->inputs;
  if (fails) spoil(chip, batch, readout, at_query - before);
  return ZBPHW_OK;
}

static int program(zbphw_chip *chip, const zbphw_weights *weights) {
  const size_t bytes = (size_t)(weights->outputs * weights->inputs) * sizeof(float);
  free(chip->weights);
  chip->weights = malloc(bytes);
  if (chip->weights == NULL) return ZBPHW_FAILED;
  memcpy(chip->weights, weights->values, bytes);
  return ZBPHW_OK;
}

static int totals(zbphw_chip *chip, zbphw_totals *totals) {
  totals->clock_s = is_fault("bad clock") ? NAN : 0.5 * (double)chip->queries;
  totals->temperature_k = 295;
  totals->queries = chip->queries;
  totals->dac_conversions = chip->queries * chip->inputs;
  totals->adc_conversions = chip->queries * chip->outputs;
  totals->busy_s = 0.25 * (double)chip->queries;
  totals->array_j = 2 * (double)chip->queries;
  return ZBPHW_OK;
}

static void close_chip(zbphw_chip *chip) {
  free(chip->weights);
  free(chip);
}

static const zbphw_plugin table = {.version = FAULT_PLUGIN_VERSION,
                                   .struct_size = FAULT_PLUGIN_SIZE,
                                   .describe_library = describe_library,
                                   .open = open_chip,
                                   .describe = describe,
                                   .last_error = last_error,
                                   .query = answer,
                                   .close = close_chip,
                                   .program = program,
                                   .settle = answer,
                                   .totals = totals};

#ifndef FAULT_PLUGIN_NO_ENTRY
const zbphw_plugin *zbphw_plugin_v1(void) { return &table; }
#else
const zbphw_plugin *zbphw_plugin_v0(void) { return &table; }
#endif
