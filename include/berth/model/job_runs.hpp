// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/base/archive.hpp"
#include "berth/model/task_placement.hpp"

/// The stretches of a simulated job. Times are microseconds on the axis of Job::arrival; work is
/// microseconds at speed 1.
namespace berth::model {

/// From `time` on a run makes progress at another rate.
struct RateStep {
  std::int64_t time = 0;
  double speed = 1.0;  ///< work in a microsecond, >= 0

  bool operator==(const RateStep&) const = default;
};

/// Why a run ended.
enum class RunEnd : std::uint8_t {
  completed,  ///< the job has done its work
  stopped,    ///< by the policy, or before a planned outage
  failed,     ///< a machine of it failed
};

/// One stretch of a job on fixed devices.
struct JobRun {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t overhead = 0;        ///< without progress at its begin
  std::int64_t work = 0;            ///< that counts: without what the job lost when it was stopped
  double speed = 1.0;               ///< work in a microsecond at the start
  std::int64_t milli = 0;           ///< GPU thousandths of all tasks
  std::int64_t batch = 0;           ///< samples of an iteration; 0: the usual
  std::int32_t configuration = -1;  ///< of an elastic job
  RunEnd ended = RunEnd::completed;
  std::vector<RateStep> rates = {};  ///< changes of the speed, ascending time
  std::vector<TaskPlacement> tasks = {};

  bool operator==(const JobRun&) const = default;
};

template <class Archive>
void describe(Archive& archive, JobRun& run) {
  archive(run.start, run.end, run.overhead, run.work, run.speed, run.milli, run.batch,
          run.configuration, run.ended, run.rates, run.tasks);
}

/// The runs of one job, ascending time. Those of a job that has ended may be packed: about 40 bytes
/// for a run of one task in place of 144. Packed runs are decoded as they are visited.
class JobRuns {
 public:
  class Iterator;

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return open_.empty() && packed_.empty(); }
  /// Visits all runs in O(size). A visited run lives until the next one.
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  /// O(index + 1) when packed. @pre index < size()
  [[nodiscard]] JobRun operator[](std::size_t index) const;
  /// @pre not empty
  [[nodiscard]] JobRun front() const { return (*this)[0]; }
  [[nodiscard]] JobRun back() const { return (*this)[size() - 1]; }

  /// @pre not packed
  void push_back(JobRun run);
  /// The last run, which goes on. @pre not empty, not packed
  [[nodiscard]] JobRun& last();
  /// No run is added or changed any more. O(size).
  void pack();

  template <class Archive>
  friend void describe(Archive& archive, JobRuns& runs) {
    archive(runs.open_, runs.packed_);
  }

 private:
  std::vector<JobRun> open_;  ///< empty when packed
  std::vector<char> packed_;  ///< empty when not
};

/// What a loop over the runs of a job needs of an iterator.
class JobRuns::Iterator {
 public:
  Iterator() : reader_({}) {}
  [[nodiscard]] const JobRun& operator*() const { return open_ != nullptr ? *open_ : run_; }
  Iterator& operator++();
  /// Of iterators over the same runs.
  [[nodiscard]] bool operator==(const Iterator& other) const { return left_ == other.left_; }

 private:
  friend class JobRuns;
  void decode();

  const JobRun* open_ = nullptr;  ///< null: decoded from bytes
  ByteReader reader_;
  JobRun run_;
  std::size_t left_ = 0;  ///< runs from this one on
};

}  // namespace berth::model
