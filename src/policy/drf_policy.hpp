// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "list_policy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/policy/policy.hpp"

namespace berth::policy {

/// Dominant resource fairness by progressive filling (Ghodsi et al., NSDI 2011). The users are the
/// queues; jobs without a queue are those of one more user. The next job is of the user with the
/// least dominant share, which is the largest of its jobs' shares of all GPUs and of each resource
/// that every machine has a limit of. Of a user the first job that fits starts, in order of
/// arrival; no running job is stopped. Ties: the user without a queue, then the lower queue.
///
/// O(running + waiting + starts x users) a decision.
class DominantResourceFairness final : public Policy {
 public:
  void decide(State& state) override;
  [[nodiscard]] bool starts_all_that_fit() const override { return true; }
  bool save(ByteWriter& writer) const override {
    writer(waiting_);
    return true;
  }
  void restore(ByteReader& reader) override { reader(waiting_); }

 private:
  /// GPU thousandths, then resources.
  using Amounts = std::array<std::int64_t, model::kResources + 1>;
  struct User {
    Amounts used = {};
    double share = 0.0;    ///< dominant
    std::size_t next = 0;  ///< entry of the waiting list
    std::size_t end = 0;   ///< the user has no entries from there on
  };

  void count_totals(const model::Cluster& cluster);
  void count_users(const State& state);
  static void add(const Demand& demand, Amounts& amounts);
  [[nodiscard]] double dominant_share(const Amounts& used) const;
  bool start_next(State& state, User& user);

  WaitingList waiting_;      ///< by user, then arrival
  Amounts totals_ = {};      ///< of the cluster; 0: does not count
  bool counted_ = false;     ///< `totals_` is set
  std::vector<User> users_;  ///< by queue + 1; of the present decision
};

}  // namespace berth::policy
