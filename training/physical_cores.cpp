#include "training/physical_cores.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <sstream>

#include "base/random.hpp"
#include "base/registry.hpp"
#include "hw/chip/chip_time.hpp"
#include "hw/device_config.hpp"
#include "hw/plugin/plugin_links.hpp"
#include "training/cores_factory.hpp"

namespace zbphw {

// One forward query and what its backward needs. Held by the autograd graph until the backward has run.
struct PhysicalCall : torch::CustomClassHolder {
  PhysicalBlock* block = nullptr;
  const VjpEstimator* estimator = nullptr;
  NsrAudit* audit = nullptr;  // null: this step is not audited
  std::uint64_t seed = 1;
  QuerySlot slot;
};

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// LibTorch sees a function with a forward and a backward; neither looks inside the block.
struct PhysicalFunction : torch::autograd::Function<PhysicalFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& point,
                            const c10::intrusive_ptr<PhysicalCall>& call) {
    context->save_for_backward({point});
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    QueryBatch batch;
    batch.inputs = point;
    batch.slot = call->slot;
    return call->block->query(batch).values;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto call = c10::static_intrusive_pointer_cast<PhysicalCall>(context->saved_data["call"].toCapsule());
    VjpRequest request;
    request.point = context->get_saved_variables()[0];
    request.cotangent = gradients[0].contiguous();
    request.seed = call->seed;
    request.slot = call->slot;
    const at::Tensor estimate = call->estimator->estimate(*call->block, request);
    if (call->audit != nullptr) call->audit->add(*call->block, *call->estimator, request, estimate);
    return {estimate, at::Tensor()};
  }
};

// The ZBP arm of a training run.
std::unique_ptr<NonlinearCores> make_zbp_cores(const TrainConfig& config) {
  const DeviceConfig device = load_device(config.device);
  const CoresShape shape{config.model.layers, config.model.context_tokens, config.model.ffn_width()};
  return std::make_unique<PhysicalCores>(device.blocks, shape, config.zbp, config.physical,
                                         static_cast<std::uint64_t>(config.seed));
}

const Registration<CoresFactory> registered("zbp", make_zbp_cores);

const Json& section(const RawConfig& blocks, const char* name) {
  const auto found = blocks.value.find(name);
  if (found == blocks.value.end()) {
    throw config_error(blocks.where, std::string("has no block \"") + name + "\"; training needs softmax and swiglu");
  }
  return *found;
}

}  // namespace

struct PhysicalCores::Kind {
  Kind(const RawConfig& device_blocks, const char* name, BlockRequest request, std::int64_t layers,
       const EstimatorConfig& estimator_config, const std::string& where)
      : estimator(make_estimator(estimator_config, where)) {
    const RawConfig config{section(device_blocks, name), device_blocks.where + "." + name};
    const std::uint64_t chip_seed = request.seed;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      request.seed = mix64(mix64(chip_seed) + static_cast<std::uint64_t>(layer));
      blocks.push_back(make_block(name, config, request));
    }
    estimator->queries_per_row(blocks.front()->spec());  // an estimator that does not fit the block says so now
  }

  std::unique_ptr<VjpEstimator> estimator;
  NsrAudit audit;
  std::vector<std::unique_ptr<PhysicalBlock>> blocks;
};

PhysicalCores::PhysicalCores(const RawConfig& blocks, const CoresShape& shape, const ZbpConfig& config,
                             Fidelity fidelity, std::uint64_t seed)
    : shape_(shape), config_(config), seed_(seed) {
  BlockRequest request;
  request.fidelity = fidelity;
  request.seed = seed;
  request.plugins = std::make_shared<PluginLinks>();
  if (fidelity == Fidelity::systemc) request.time = systemc_chip_time();
  request.output_width = shape.context_tokens;
  request.causal_period = shape.context_tokens;
  softmax_ = std::make_unique<Kind>(blocks, "softmax", request, shape.layers, config.score_core, "zbp.score_core");
  request.output_width = shape.gate_width;
  request.causal_period = 0;
  swiglu_ = std::make_unique<Kind>(blocks, "swiglu", request, shape.layers, config.gate, "zbp.gate");
}

PhysicalCores::~PhysicalCores() = default;

void PhysicalCores::begin_pass(const Pass& pass) { pass_ = pass; }

at::Tensor PhysicalCores::call(Kind& kind, const at::Tensor& point, std::int64_t sequences, std::int64_t layer) {
  const auto call = c10::make_intrusive<PhysicalCall>();
  call->block = kind.blocks[static_cast<std::size_t>(layer)].get();
  call->estimator = kind.estimator.get();
  const bool audited = config_.audit_every_steps > 0 && pass_.step % config_.audit_every_steps == 0;
  call->audit = audited ? &kind.audit : nullptr;
  // Kinds draw probes of their own: a score row and a token of one number must not share signs.
  call->seed = mix64(seed_ ^ stream_id(call->block->spec().name));
  // Training and validation passes of one step are different uses of the block.
  call->slot.step = static_cast<std::uint32_t>(2 * pass_.step + (pass_.phase == Phase::validation ? 1 : 0));
  call->slot.block = static_cast<std::uint32_t>(layer);
  call->slot.first_row = static_cast<std::uint32_t>(pass_.first_sequence * (point.size(0) / sequences));
  return PhysicalFunction::apply(point, call);
}

at::Tensor PhysicalCores::softmax(const at::Tensor& scores, std::int64_t layer) {
  if (scores.dim() != 4 || scores.size(-1) != shape_.context_tokens || scores.size(-2) != shape_.context_tokens) {
    std::ostringstream shape;
    shape << scores.sizes();
    throw config_error("score core", "scores have shape " + shape.str() + "; a chip's rows are " +
                                         std::to_string(shape_.context_tokens) + " wide");
  }
  return call(*softmax_, scores.reshape({-1, shape_.context_tokens}), scores.size(0), layer).view(scores.sizes());
}

at::Tensor PhysicalCores::swiglu(const at::Tensor& gate, const at::Tensor& up, std::int64_t layer) {
  const at::Tensor point = at::cat({gate, up}, -1).view({-1, 2 * shape_.gate_width});
  return call(*swiglu_, point, gate.size(0), layer).view(gate.sizes());
}

Meter PhysicalCores::meter() const {
  Meter total;
  for (const Kind* kind : {softmax_.get(), swiglu_.get()}) {
    for (const auto& block : kind->blocks) total += block->meter();
  }
  return total;
}

Json PhysicalCores::nsr() const {
  Json result = Json::object();
  if (!softmax_->audit.empty()) result["softmax"] = softmax_->audit.result();
  if (!swiglu_->audit.empty()) result["swiglu"] = swiglu_->audit.result();
  return result;
}

Json PhysicalCores::report() const {
  const Meter total = meter();
  return {{"nsr", nsr()},
          {"queries", total.queries},
          {"chip_time_s", total.busy_s},
          {"chip_energy_j", total.energy.total_j()}};
}

Json PhysicalCores::state() const {
  Json result = Json::object();
  for (const Kind* kind : {softmax_.get(), swiglu_.get()}) {
    Json& saved = result[kind->blocks.front()->spec().name];
    saved["audit"] = kind->audit.state();
    saved["blocks"] = Json::array();
    for (const auto& block : kind->blocks) {
      saved["blocks"].push_back({{"clock_s", block->clock_s()}, {"meter", meter_to_json(block->meter())}});
    }
  }
  return result;
}

void PhysicalCores::restore(const Json& state) {
  for (Kind* kind : {softmax_.get(), swiglu_.get()}) {
    const Json& saved = state.at(kind->blocks.front()->spec().name);
    kind->audit.restore(saved.at("audit"));
    for (std::size_t layer = 0; layer < kind->blocks.size(); ++layer) {
      const Json& block = saved.at("blocks").at(layer);
      kind->blocks[layer]->resume_at(block.at("clock_s").get<double>(), meter_from_json(block.at("meter")));
    }
  }
}

}  // namespace zbphw
