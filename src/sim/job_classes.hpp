// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::sim {

/// What a job asks of the future, or the sum of such jobs.
struct JobRow {
  std::int64_t milli = 0;  ///< GPU thousandths
  double weight = 0.0;
};

/// Jobs taken together by GPUs, weight and duration on each pool: at most `kMost` classes of any
/// number of jobs. Classes begin at ratios of about 1.06 and widen, all at once, to those of 1.12,
/// 1.25, 1.5, 2, 4, 16, ... when there are too many. The first rows are classes of their own.
/// O(pools) a job on average.
class JobClasses {
 public:
  static constexpr std::size_t kMost = 128;

  struct Class {
    std::int64_t count = 0;
    JobRow sum, least, most;
  };
  /// Of the members of a class on a pool.
  struct PoolUse {
    std::int64_t shortest = 0;  ///< duration; 0: they may not use it
    double gpu_time = 0.0;      ///< sum of thousandths x seconds
  };

  /// @param expected  number of jobs; up to kMost none are merged
  JobClasses(std::size_t pools, std::size_t expected);

  /// @param durations  by pool, >= 1; 0: the job may not use it. @pre milli > 0
  void add(const JobRow& job, std::span<const std::int64_t> durations);

  /// In order of their first member.
  [[nodiscard]] std::span<const Class> classes() const { return classes_; }
  /// By pool, of a class by its position.
  [[nodiscard]] std::span<const PoolUse> pools_of(std::size_t of) const {
    return std::span(uses_).subspan(of * pools_, pools_);
  }
  [[nodiscard]] bool merged() const { return merges_; }

 private:
  [[nodiscard]] std::size_t slot_of(std::span<const std::uint64_t> key) const;
  void make_key(const JobRow& job, std::span<const std::int64_t> durations);
  void append(const JobRow& job, std::span<const std::int64_t> durations);
  void insert_last(std::size_t slot);
  void join(std::size_t to, const JobRow& job, std::span<const std::int64_t> durations);
  void join(std::size_t to, std::size_t from);
  void rehash(std::size_t slots);
  void widen();

  std::size_t pools_;
  bool merges_;
  int level_ = 0;  ///< ratios of classes: number of halvings of their keys
  std::vector<Class> classes_;
  std::vector<PoolUse> uses_;        ///< [class x pools]
  std::vector<std::uint64_t> keys_;  ///< [class x (pools + 3)], at `level_`
  std::vector<std::int32_t> table_;  ///< hashed by key: class, or -1
  std::vector<std::uint64_t> key_;   ///< of the job that is added
};

}  // namespace berth::sim
