#include "hw/chip/loose_modules.hpp"

#include "base/error.hpp"

namespace zbphw {

LooseChip::LooseChip(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
  socket.register_b_transport(this, &LooseChip::transport);
}

void LooseChip::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  auto* extension = payload.get_extension<BatchExtension>();
  if (extension == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  extension->totals = batch_totals(*extension->batch);
  delay += sc_core::sc_time(static_cast<double>(extension->totals.elapsed_ps), sc_core::SC_PS);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

// Methods, not threads: a thread's stack of its own is what the address sanitizer takes for a fault when an exception
// passes later. A method cannot wait, so catching up with local time is an event.
LooseHost::LooseHost(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
  SC_HAS_PROCESS(LooseHost);
  SC_METHOD(run);
  sensitive << asked_;
  dont_initialize();
  SC_METHOD(catch_up);
  sensitive << due_;
  dont_initialize();
  // Nothing else shares this bus, so the quantum only says how often the kernel's time is brought up.
  tlm_utils::tlm_quantumkeeper::set_global_quantum(sc_core::sc_time(1, sc_core::SC_MS));
  keeper_.reset();
  payload_.set_extension(&extension_);
}

void LooseHost::run() {
  sc_core::sc_time local = keeper_.get_local_time();
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  socket->b_transport(payload_, local);
  keeper_.set(local);
  if (keeper_.need_sync()) due_.notify(local);
}

// The kernel's time is now what the host's was.
void LooseHost::catch_up() { keeper_.reset(); }

ChipTotals LooseHost::serve(const ChipBatch& batch) {
  extension_.batch = &batch;
  asked_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start();  // until nothing is under way
  if (!payload_.is_response_ok()) throw device_error("chip", "the bus answered " + payload_.get_response_string());
  return extension_.totals;
}

}  // namespace zbphw
