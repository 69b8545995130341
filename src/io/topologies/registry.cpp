// SPDX-License-Identifier: Apache-2.0
#include "fabric.hpp"

#include <array>

#include "berth/base/assert.hpp"
#include "berth/io/file.hpp"
#include "berth/io/import_inventory.hpp"

namespace berth::io {
namespace {

struct FabricRow {
  FabricDescription format;
  SwitchFabric (*read)(const std::string& text, const std::string& file);
};

/// One row a format of fabrics, by name.
constexpr std::array kFabricRows{
    FabricRow{{"ibnetdiscover", "An InfiniBand fabric as ibnetdiscover prints it"},
              read_ibnetdiscover},
    FabricRow{{"lingjun", "Alibaba Lingjun 2023: hosts and their switches as CSV"}, read_lingjun},
    FabricRow{{"slurm-topology", "Slurm's topology.conf: tree or blocks"}, read_slurm_topology},
    FabricRow{{"topograph", "NVIDIA topograph model: switches and blocks as YAML"}, read_topograph},
};

constexpr auto kFabrics = [] {
  std::array<FabricDescription, kFabricRows.size()> formats;
  for (std::size_t i = 0; i < formats.size(); ++i) formats[i] = kFabricRows[i].format;
  return formats;
}();

constexpr std::array kInventories{
    InventoryFormat{"pai-machines", "Alibaba PAI 2020: machines as CSV", "pai_machine_spec.csv",
                    import_pai_machines},
    InventoryFormat{"philly-machines", "Philly: machines and their GPUs", "cluster_machine_list",
                    import_philly_machines},
};

}  // namespace

std::span<const FabricDescription> fabric_formats() { return kFabrics; }
std::span<const InventoryFormat> inventory_formats() { return kInventories; }

FabricImport import_fabric(std::string_view format, const std::string& path,
                           const HostOptions& host) {
  const FabricRow* row = nullptr;
  for (const FabricRow& candidate : kFabricRows) {
    if (candidate.format.name == format) row = &candidate;
  }
  BERTH_EXPECT(row != nullptr);
  SwitchFabric fabric = row->read(read_file(path), path);
  FabricImport import{.cluster = cluster_of(fabric, host, path), .nameless_ports = fabric.nameless};
  import.notes = std::move(fabric.notes);
  return import;
}

}  // namespace berth::io
