// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/notes.hpp"
#include "slurm/snapshot.hpp"
#include "slurm/topology.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/model/cluster.hpp"

namespace berth::io::slurm {

enum class Use : std::uint8_t { up, drained, reserved };

/// A node as a machine of Berth's cluster.
struct ImportedMachine {
  const SlurmNode* node = nullptr;
  std::uint32_t rack = 0;  ///< index into ImportedMachines::racks
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::string gpu_type;  ///< Slurm's name of it; "gpu" when it has no type
  Use use = Use::up;
};

/// The nodes that are planned, in the order of Berth's machines.
struct ImportedMachines {
  std::vector<ImportedMachine> list;
  std::vector<RackLayout::RackNodes> racks;                 ///< name and pod; without empty racks
  std::unordered_map<std::string_view, std::size_t> index;  ///< by name
  /// Parts of a GPU that Slurm allocates ("shard", "mps"): the smallest number into which any GPU
  /// is cut.
  std::unordered_map<std::string, std::int64_t> parts_per_gpu;

  [[nodiscard]] const ImportedMachine* find(std::string_view name) const {
    const auto found = index.find(name);
    return found == index.end() ? nullptr : &list[found->second];
  }
};

/// Whether new jobs may start on a node, by its states alone.
Use use_of(const SlurmNode& node, Notes& notes);

/// @throws InputError: a node given twice, a name or amount that Berth's files cannot express
ImportedMachines arrange(const Snapshot& snapshot, const SlurmSources& sources,
                         const SlurmImportOptions& options, Notes& notes);

/// Reserves the nodes of reservations that began, or that begin before the longest of the waiting
/// jobs would end.
void reserve(const Snapshot& snapshot, std::int64_t now, ImportedMachines& machines, Notes& notes);

/// Whether the user selected the partition; without a selection all are. @throws InputError:
/// unknown name
bool is_selected(const SlurmImportOptions& options, std::string_view partition);

}  // namespace berth::io::slurm
