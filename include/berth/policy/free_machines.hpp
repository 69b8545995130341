// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/model/cluster.hpp"
#include "berth/model/domain_task_counts.hpp"
#include "berth/model/free_machine.hpp"
#include "berth/policy/demand.hpp"
#include "berth/policy/machine_guests.hpp"
#include "berth/policy/machine_set.hpp"

namespace berth::policy {

/// Free devices of all machines, indexed by GPU type and number of wholly free GPUs, and best fit
/// on them (Johnson, Demers, Ullman, Garey and Graham 1974). A plain value: trials work on a copy.
///
/// Tasks of a job are kept together: they take the fullest machine that holds all that are left,
/// else the emptiest one, and so on. Ties: the lowest machine. A share takes the fullest device of
/// the machine with the least room. All GPU tasks are on one GPU type. Rules about machines
/// (`set_rules`) are kept: places that they do not allow are no room.
class FreeMachines {
 public:
  explicit FreeMachines(const model::Cluster& cluster);
  /// @pre nothing is taken; the rules outlive it and its copies
  void set_rules(const MachineRules& rules);

  /// Places all tasks on machines of this type and takes their devices; false and nothing taken
  /// when they do not fit. `tasks` is overwritten. O(tasks x 64) when resources other than GPUs do
  /// not bind; a narrow domain adds one such search for each rack or pod with enough GPUs.
  bool place(const Demand& demand, GpuTypeId type, std::vector<model::TaskPlacement>& tasks);
  /// True when the devices of these tasks are free and rules about other jobs allow the machines;
  /// takes them then.
  bool take_again(const Demand& demand, std::span<const model::TaskPlacement> tasks);
  void take(const Demand& demand, std::span<const model::TaskPlacement> tasks);
  void release(const Demand& demand, std::span<const model::TaskPlacement> tasks);

  /// True when rules let a job of the demand, which is not there, start on the machine.
  [[nodiscard]] bool admits(MachineId machine, const Demand& demand) const {
    return guests_.admits(machine, demand.rules);
  }

  /// A closed machine has no room. @pre no task is on it
  void close(MachineId machine);
  void open(MachineId machine);

  /// Takes those of the devices of a reservation that are free, without other resources; returns
  /// them. Its machines admit only jobs that may share them with one of the demand.
  std::vector<model::TaskPlacement> take_free_devices(const Demand& demand,
                                                      std::span<const model::TaskPlacement> tasks);

  /// Takes what `take_free_devices` takes, until it is destroyed. @pre the arguments outlive it
  class Kept {
   public:
    Kept(FreeMachines& machines, const Demand& demand, std::span<const model::TaskPlacement> tasks);
    ~Kept();
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

   private:
    FreeMachines& machines_;
    std::uint32_t rules_;
    std::span<const model::TaskPlacement> tasks_;
    std::vector<model::TaskPlacement> taken_;
  };

  /// GPU thousandths free on machines of the type; invalid: the machines without GPUs, 0.
  [[nodiscard]] std::int64_t free_milli(GpuTypeId type) const { return milli_[row(type)]; }
  [[nodiscard]] std::int64_t free_milli() const;  ///< of all types
  [[nodiscard]] const model::FreeMachine& machine(MachineId m) const {
    return machines_[m.index()];
  }
  /// Number of changes of the machine so far: equal numbers, equal content.
  [[nodiscard]] std::uint64_t changes(MachineId m) const { return changes_[m.index()]; }
  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }

 private:
  struct Range {
    std::size_t first, end;
  };
  [[nodiscard]] std::size_t row(GpuTypeId type) const {
    return type.valid() ? type.index() : milli_.size() - 1;
  }
  [[nodiscard]] MachineSet& set_of(std::size_t row, std::size_t free) {
    return sets_[row * kSets + free];
  }
  /// Where tasks of one job are searched for.
  struct Search {
    std::uint32_t rules = 0;
    std::size_t row = 0;
    Range range;
    model::DomainTaskCounts* counts = nullptr;  ///< null: no rules count its tasks
  };
  bool place_in(const Demand& demand, std::size_t row, Range range,
                std::vector<model::TaskPlacement>& tasks);
  bool place_groups(const Demand& demand, const Search& search,
                    std::vector<model::TaskPlacement>& tasks);
  bool place_group(const DemandGroup& group, const Search& search,
                   std::vector<model::TaskPlacement>& tasks);
  [[nodiscard]] std::int64_t room_for(const model::Shape& shape, const Search& search,
                                      std::size_t machine, std::int64_t limit) const;
  std::size_t find_whole(const DemandGroup& group, const Search& search, std::int32_t count);
  std::size_t find_share(const DemandGroup& group, const Search& search);
  std::size_t find_any(const DemandGroup& group, const Search& search);
  std::size_t find_fullest(const model::Shape& shape, const Search& search, std::int32_t least);
  void settle(std::uint32_t rules, std::span<const model::TaskPlacement> tasks, int sign);
  void edit_devices(const Demand& demand, std::span<const model::TaskPlacement> tasks, int sign);
  void edit(const model::TaskPlacement& task, const model::Shape& shape, int sign);
  void replace(MachineId machine, const model::FreeMachine& by);
  [[nodiscard]] std::vector<Range> domains(const Demand& demand) const;

  /// Sets by wholly free GPUs 0 .. 64, and one of machines with a partly taken device.
  static constexpr std::size_t kSets = model::kMaxGpusPerMachine + 2;
  static constexpr std::size_t kPartly = kSets - 1;

  const model::Cluster* cluster_;
  std::vector<model::FreeMachine> machines_;  ///< by MachineId
  std::vector<std::uint64_t> changes_;        ///< by MachineId
  std::vector<std::uint8_t> row_of_;          ///< by MachineId
  std::vector<MachineSet> sets_;              ///< [row x kSets + free GPUs]
  std::vector<std::int64_t> milli_;           ///< by row: GPU type, then "none"
  std::vector<std::int32_t> most_;            ///< by row: GPUs of the largest machine
  std::span<const model::PlacementRules> rules_;
  MachineGuests guests_;
};

}  // namespace berth::policy
