// How a cell model's file makes itself known:
//
//     struct MyCellConfig { ... };  void describe(Fields&, MyCellConfig&);
//     class MyCell : public CellModel { MyCell(CellIdentity, const MyCellConfig&); ... };
//     const CellRegistration<MyCell, MyCellConfig> registered("my_cell");
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "base/registry.hpp"
#include "device_models/cells/cell_model.hpp"
#include "device_models/cells/device_to_device.hpp"
#include "device_models/cells/temperature.hpp"

namespace zbphw {

// The keys that every cell has beside its model's own.
struct CellCommon {
  std::string model;
  std::string source;
  std::optional<DeviceToDeviceConfig> device_to_device;
  std::optional<TemperatureConfig> temperature;
};

void describe_common(Fields& f, CellCommon& c);

template <class Own>
struct CellConfig {
  CellCommon common;
  Own own;
};

template <class Own>
void describe(Fields& f, CellConfig<Own>& c) {
  describe_common(f, c.common);
  describe(f, c.own);
}

// What a cell model's name stands for.
struct CellKind {
  std::function<std::unique_ptr<CellModel>(const Json& json, const std::string& where)> make;
  std::function<std::vector<FieldRow>()> explain;
};

template <class Model, class Own>
std::unique_ptr<CellModel> build_cell(const Json& json, const std::string& where) {
  const auto config = read_config<CellConfig<Own>>(json, where);
  std::unique_ptr<CellModel> cell =
      std::make_unique<Model>(CellIdentity{config.common.model, write_config(config)}, config.own);
  if (config.common.device_to_device) cell = vary_devices(std::move(cell), *config.common.device_to_device);
  if (config.common.temperature) cell = read_at_temperature(std::move(cell), *config.common.temperature);
  return cell;
}

template <class Model, class Own>
struct CellRegistration : Registration<CellKind> {
  explicit CellRegistration(const std::string& name)
      : Registration<CellKind>(name, {build_cell<Model, Own>, explain_config<CellConfig<Own>>}) {}
};

}  // namespace zbphw
