// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_variants.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify::search {

using StateId = std::uint32_t;  ///< of a state of a machine
using KindId = std::uint32_t;   ///< of a shape that some searched job has

/// A shape of the searched jobs and the GPU types that they allow it on.
struct TaskKind {
  ShapeId shape;
  std::uint64_t types = 0;   ///< bit per GpuTypeId
  bool without_gpu = false;  ///< also on machines without GPUs
};

/// All states that machines get into by adding tasks one by one: a graph whose edges are tasks.
/// States that differ in a resource that cannot bind on the machine are one.
class MachineStates {
 public:
  /// One more task leads to another state. A share has one such edge for each distinct device.
  struct Fill {
    KindId kind;
    StateId next;
  };

  /// @param most  edges kept; with more `complete()` is false and the graph must not be used
  /// O(edges log states).
  MachineStates(const model::InstanceView& instance, std::span<const TaskKind> kinds,
                std::size_t most);

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::size_t size() const { return states_.size(); }
  [[nodiscard]] StateId of(MachineId machine) const { return of_machine_[machine.index()]; }
  [[nodiscard]] GpuTypeId type(StateId state) const { return states_[state].type; }
  [[nodiscard]] std::span<const Fill> fills(StateId state) const {
    return std::span(fills_).subspan(first_[state], first_[state + 1] - first_[state]);
  }
  /// States in an order in which every edge leads to an earlier one.
  [[nodiscard]] std::span<const StateId> fullest_first() const { return order_; }
  /// Most tasks of one kind that a machine in this state can still hold.
  [[nodiscard]] std::int32_t most(StateId state, KindId kind) const {
    return most_[state * kinds_.size() + kind];
  }

 private:
  StateId add(const MachineVariant& state);
  void add_fills(StateId state);
  [[nodiscard]] bool allowed(const MachineVariant& state, KindId kind) const;
  /// The state's resources that cannot bind become unlimited.
  [[nodiscard]] MachineVariant without_slack(MachineVariant state) const;
  void sort_states();
  void count_tasks();

  model::WorkloadView workload_;
  std::vector<TaskKind> kinds_;
  std::map<MachineVariant, StateId> ids_;
  std::vector<MachineVariant> states_;
  std::vector<Fill> fills_;         ///< by state
  std::vector<std::size_t> first_;  ///< by state, one more than states: first of its `fills_`
  std::vector<StateId> order_;
  std::vector<std::int32_t> most_;  ///< by state and kind
  std::vector<StateId> of_machine_;
  bool complete_ = true;
};

}  // namespace berth::certify::search
