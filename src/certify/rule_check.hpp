// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// What keeps the first job away from the second, a key of the jobs file; empty: nothing.
std::string_view why_apart(const model::PlacementRules& job, const model::PlacementRules& other);

/// Checks the rules of jobs about their machines: numbers of tasks and domains when a job is added,
/// rules about other jobs and licenses of the cluster at the end. Memory: 5 bytes a machine, and a
/// record for each machine of a job whose rules concern others.
class RuleCheck {
 public:
  explicit RuleCheck(const model::InstanceView& instance);

  /// @pre every machine of the placement exists
  void add(const model::JobPlacement& placed, Findings& findings);
  /// Numbers of tasks and domains alone. @pre as for `add`
  void check_counts(const model::JobPlacement& placed, Findings& findings) const;
  /// One fault for each two jobs on a machine that rules keep apart, unless both are pinned, and
  /// for each license of which jobs take more than pinned jobs leave.
  void report(Findings& findings) const;

 private:
  struct Entry {
    MachineId machine;
    JobId job;
    std::uint32_t rules;  ///< row of WorkloadTables::rules
    bool pinned;
  };
  void enter(const Entry& entry);
  void report_licenses(Findings& findings) const;
  void report_machine(const std::vector<Entry>& entries, std::size_t first, std::size_t last,
                      Findings& findings) const;

  model::InstanceView instance_;
  bool apart_ = false;                        ///< some rules keep jobs apart
  std::vector<std::int64_t> pinned_, taken_;  ///< licenses, by row of Cluster::licenses
  std::vector<Entry> entries_;
  std::vector<JobId> first_;           ///< by MachineId: a job on it
  std::vector<std::uint8_t> several_;  ///< by MachineId: further jobs are on it
};

}  // namespace berth::certify
