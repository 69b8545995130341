// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../patterns/packing_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/solver/job_group.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {

/// The rows of the configuration LP, and the bundles of tasks that its configurations hold. There
/// is a row for each shape with GPUs and each GPU type on which some group has an option and some
/// machine holds a bundle with the shape, and one for each shape without GPUs.
///
/// GPU types share a shape's row when every group with the shape has equal options on them, and no
/// other shape with GPUs. This costs nothing: such a job pays the least of the types' prices, and
/// with that price on all of them machines earn no more.
class TaskRows {
 public:
  using Entries = std::vector<std::pair<std::int32_t, double>>;

  /// @param slots  GPU types and the slot of machines without GPUs
  TaskRows(std::span<const model::Shape> shapes, const JobCounts& jobs,
           std::span<const BinType> bins, std::size_t slots);

  [[nodiscard]] std::size_t size() const { return count_; }
  /// Rows of limits, after those of tasks: positions of their prices, ascending.
  [[nodiscard]] std::span<const std::uint32_t> limits() const { return limits_; }
  [[nodiscard]] std::size_t first_limit() const { return count_ - limits_.size(); }
  /// Adds a row for each of these limits: what options use of it. Once, after construction.
  void add_limits(std::vector<std::uint32_t> limits);
  /// Row of the tasks of a shape on machines of this slot; -1: no group has such tasks, or no
  /// machine holds them.
  [[nodiscard]] std::int32_t row(ShapeId shape, std::size_t slot) const {
    return rows_[shape.index() * slots_ + slot];
  }
  [[nodiscard]] const std::vector<TaskBundle>& bundles() const { return bundles_; }
  /// Bundles that machines of this slot may hold, ascending.
  [[nodiscard]] std::span<const std::int32_t> bundles_on(std::size_t slot) const {
    return bundles_on_[slot];
  }
  /// Tasks of the bundle over all jobs: no machine holds more.
  [[nodiscard]] std::int64_t copies(std::int32_t bundle) const {
    return copies_[static_cast<std::size_t>(bundle)];
  }

  /// Bundles of one job of the group, with their numbers.
  [[nodiscard]] std::vector<std::pair<std::int32_t, std::int64_t>> bundles_of(
      const JobGroup& group) const;

  /// Tasks, and amounts of limits, that a job of the group takes with this option, by row. @pre
  /// every task has a row
  [[nodiscard]] Entries demand(const JobGroup& group, const JobGroup::Option& option) const;
  /// True when machines of the option's type hold each of the job's tasks.
  [[nodiscard]] bool possible(const JobGroup& group, const JobGroup::Option& option) const;
  /// The tasks of one bundle on machines of this slot: row and number.
  [[nodiscard]] Entries content(std::int32_t bundle, std::size_t slot) const;
  /// GPUs of one task of each row of tasks; 0 for shapes without GPUs.
  [[nodiscard]] double gpus(std::size_t row) const { return gpus_[row]; }
  /// Slots of each row of tasks, ascending; none for shapes without GPUs.
  [[nodiscard]] std::span<const std::size_t> slots(std::size_t row) const { return slots_of_[row]; }

  /// Prices by row as prices of tasks by shape and GPU type: those above 0, ascending.
  [[nodiscard]] std::vector<TaskPrice> task_prices(std::span<const double> price) const;

 private:
  void add_bundles(const JobCounts& jobs, std::span<const BinType> bins);
  void add_row(ShapeId shape, std::size_t slot);
  void share_rows(const JobCounts& jobs);
  [[nodiscard]] std::size_t slot_of_task(ShapeId shape, GpuTypeId type) const {
    return shapes_[shape.index()].uses_gpu() ? slot_of(type) : 0;
  }

  std::span<const model::Shape> shapes_;
  std::size_t slots_;
  std::size_t count_ = 0;
  std::vector<std::int32_t> rows_;  ///< by shape and slot
  std::vector<std::uint32_t> limits_;
  std::vector<double> gpus_;
  std::vector<std::vector<std::size_t>> slots_of_;     ///< by row of tasks
  std::vector<std::size_t> twin_;                      ///< by shape and slot: the first equal slot
  std::vector<TaskBundle> bundles_;                    ///< ascending tasks
  std::vector<std::int64_t> copies_;                   ///< by bundle
  std::vector<std::vector<std::int32_t>> bundles_on_;  ///< by slot
};

}  // namespace berth::solver
