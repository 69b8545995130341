// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/machines.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace berth::io::slurm {

/// The sets of machines that jobs may be placed on: by partition, features, named and excluded
/// nodes. Equal sets are kept once.
class NodeConstraints {
 public:
  NodeConstraints(const ImportedMachines& machines, const std::vector<Partition>& partitions);

  /// A job's set of machines, or in `fault` why it cannot be planned.
  struct NodeConstraint {
    std::int32_t set = -1;  ///< -1: anywhere
    std::string fault;
  };
  NodeConstraint of(const SlurmJob& job);

  /// Membership by machine.
  [[nodiscard]] const std::vector<bool>& set(std::int32_t constraint) const {
    return sets_[static_cast<std::size_t>(constraint)].machines;
  }
  /// Sets of the alternatives `[a
  /// b]`: all machines of a job must be in one common set.
  [[nodiscard]] const std::vector<std::int32_t>& alternatives(std::int32_t constraint) const {
    return sets_[static_cast<std::size_t>(constraint)].alternatives;
  }
  [[nodiscard]] const Partition* partition(std::string_view name) const;

 private:
  struct Set {
    std::vector<bool> machines;
    std::vector<std::int32_t> alternatives;
  };
  std::int32_t add(const std::string& key, std::vector<bool> machines, bool keep = false);
  std::vector<bool> with_features(std::string_view constraint) const;

  const ImportedMachines& machines_;
  std::unordered_map<std::string_view, const Partition*> partitions_;
  std::unordered_map<std::string, std::vector<bool>> in_partition_;
  std::unordered_map<std::string, std::int32_t> known_;
  std::vector<Set> sets_;
};

/// Names for the GPU types such that every job treats machines of one name alike.
///
/// Sets are processed in the order given (those of most GPUs first); a set that would need a 65th
/// name is dropped, and its jobs are not planned.
struct TypeNames {
  std::vector<std::string> names;  ///< by machine; empty without GPUs
  std::unordered_map<std::string, std::vector<std::string>> of_type;  ///< names of a Slurm type
  std::size_t count = 0;                                              ///< of names
  std::vector<bool> dropped;  ///< by position in the order given
};
TypeNames name_types(const ImportedMachines& machines,
                     const std::vector<const std::vector<bool>*>& sets);

}  // namespace berth::io::slurm
