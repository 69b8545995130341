// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "list_policy.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "berth/policy/policy.hpp"

namespace berth::policy {

/// Serves all jobs in the order of a key, which changes with time for running jobs only. A waiting
/// job that does not fit stops running jobs of larger keys, the largest first, until it fits; those
/// whose devices stay free go on. A job that keeps its place is not moved. Ties: arrival, then id.
///
/// O(waiting) a decision; O(running log running) more when a job does not fit.
class PreemptivePolicy : public Policy {
 public:
  void decide(State& state) override;
  [[nodiscard]] bool starts_all_that_fit() const override { return true; }
  bool save(ByteWriter& writer) const override {
    writer(waiting_);
    return true;
  }
  void restore(ByteReader& reader) override { reader(waiting_); }

 protected:
  /// The least is served first.
  [[nodiscard]] virtual double key(const State& state, JobId job) const = 0;
  /// Called after a decision: the policy may ask to be woken.
  virtual void after(State& /*state*/) {}

 private:
  using WaitingEntry = WaitingList::WaitingEntry;
  [[nodiscard]] WaitingEntry entry_of(const State& state, JobId job) const {
    return {key(state, job), state.job(job).arrival, job};
  }
  void sort_running(const State& state);
  [[nodiscard]] bool may_displace(const State& state, const WaitingEntry& entry) const;
  bool displace(State& state, const WaitingEntry& entry);

  WaitingList waiting_;
  std::vector<WaitingEntry> running_;   ///< that may be stopped, the largest key first
  std::vector<std::uint8_t> hopeless_;  ///< by demand: stopping jobs did not help this time
  std::vector<JobId> victims_;          ///< the largest key first
};

/// Shortest remaining time first: time left on the job's fastest type.
class Srtf final : public PreemptivePolicy {
  [[nodiscard]] double key(const State& state, JobId job) const override;
};

/// Shortest remaining service first: GPU-time left.
class Srsf final : public PreemptivePolicy {
  [[nodiscard]] double key(const State& state, JobId job) const override;
};

/// Least attained service in queues: a job whose GPU-time passes a threshold enters the next queue;
/// the order within a queue is arrival (two-dimensional LAS of Tiresias: Gu et al., NSDI 2019).
class Las final : public PreemptivePolicy {
 public:
  explicit Las(std::vector<std::int64_t> thresholds) : thresholds_(std::move(thresholds)) {}

 private:
  [[nodiscard]] double key(const State& state, JobId job) const override;
  void after(State& state) override;
  [[nodiscard]] std::size_t queue_of(const State& state, JobId job) const;

  std::vector<std::int64_t> thresholds_;  ///< GPU-seconds
};

}  // namespace berth::policy
