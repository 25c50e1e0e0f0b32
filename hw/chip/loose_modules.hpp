// The loosely timed chip: a host and a chip on a TLM-2.0 bus. Included by SystemC sources only.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>
#include <systemc>

#include "hw/chip/chip_time.hpp"

namespace zbphw {

// What a transaction carries besides its payload: the batch on the way in, its totals on the way out.
struct BatchExtension : tlm::tlm_extension<BatchExtension> {
  const ChipBatch* batch = nullptr;
  ChipTotals totals;

  tlm::tlm_extension_base* clone() const override { return new BatchExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const BatchExtension&>(other); }
};

// Answers a batch at once and says how long it took.
class LooseChip : public sc_core::sc_module {
 public:
  explicit LooseChip(const sc_core::sc_module_name& name);

  tlm_utils::simple_target_socket<LooseChip> socket;

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
};

// Sends batches, ahead of the kernel's time by at most a quantum.
class LooseHost : public sc_core::sc_module {
 public:
  explicit LooseHost(const sc_core::sc_module_name& name);

  // Runs the kernel until the batch is served.
  ChipTotals serve(const ChipBatch& batch);

  tlm_utils::simple_initiator_socket<LooseHost> socket;

 private:
  void run();
  void catch_up();

  tlm_utils::tlm_quantumkeeper keeper_;
  sc_core::sc_event asked_;
  sc_core::sc_event due_;
  BatchExtension extension_;
  tlm::tlm_generic_payload payload_;
};

}  // namespace zbphw
