// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/policy/time.hpp"

namespace berth::policy {

/// What a distribution of durations says about the time left of a job that has reached an age.
enum class Residual : std::uint8_t {
  gittins,  ///< least expected time spent per completion (the inverse of Gittins' index, 1979)
  mean,     ///< mean time left
  median,   ///< half of them have ended by then
  p90,      ///< nine in ten have
};

/// The time left of a job of this age, if its duration is like one of the samples beyond it.
/// @param samples  ascending  @pre the last one is larger than `age`
/// O(samples)
Micros residual(const std::vector<Micros>& samples, Micros age, Residual kind);

/// Durations of the last jobs that ended, by what is known of a job when it arrives.
///
/// A job is compared to the last 64 jobs of its queue and number of GPUs that ended; when fewer
/// than kLeast of them lasted beyond its age, to those of any queue, then to those of all jobs. One
/// beyond all of these is expected to take as long again, and at least a minute; before anything
/// has ended a job is expected to take an hour.
class History {
 public:
  static constexpr std::size_t kWindow = 64;
  static constexpr std::size_t kLeast = 3;  ///< chosen, not tuned
  static constexpr Micros kUnknown = 3600 * kSecond;
  static constexpr Micros kShortest = 60 * kSecond;

  explicit History(Residual kind) : kind_(kind) {}

  /// A job has ended. @param milli  GPU thousandths  @param work  microseconds at speed 1
  void add(QueueId queue, std::int64_t milli, Micros work);
  /// Work left of a job that has done `age`, > 0. O(kWindow + log groups)
  [[nodiscard]] Micros remaining(QueueId queue, std::int64_t milli, Micros age) const;

 private:
  struct Samples {
    std::deque<Micros> latest;   ///< at most kWindow, in order of ending
    std::vector<Micros> sorted;  ///< the same, ascending
    void add(Micros work);
  };
  struct Group {
    std::int32_t queue;
    std::int64_t milli;
    auto operator<=>(const Group&) const = default;
  };

  Residual kind_;
  std::map<Group, Samples> by_queue_;
  std::map<std::int64_t, Samples> by_milli_;
  Samples all_;
};

}  // namespace berth::policy
