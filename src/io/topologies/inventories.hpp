// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "csv.hpp"

#include <string>
#include <vector>

#include "berth/model/cluster.hpp"

namespace berth::io {

/// A machine of a list that tells its equipment but no fabric.
struct InventoryMachine {
  std::string name;
  std::string gpu_type;  ///< unused without GPUs
  model::MachineClass amounts;
};

/// One pod with a rack for each machine class, both in order of first appearance.
/// @throws InputError at the end of the table: more than 64 GPU types
model::Cluster cluster_of_inventory(const std::vector<InventoryMachine>& machines, const Csv& csv);

}  // namespace berth::io
