// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "displacement.hpp"
#include "horizon_prices.hpp"
#include "service_index.hpp"

#include <cstdint>
#include <vector>

#include "berth/policy/policy.hpp"
#include "berth/sim/berth_policy.hpp"

namespace berth::sim {

/// The jobs present, in order of their index, share the cluster anew at most every `spacing`: over
/// GPU types first, each job on the type where its time and the price of that time are least; then
/// on machines, where a job that keeps its type keeps its devices.
///
/// O(present + served log present) a decision, and a round of prices where GPU types differ.
class BerthPreemptive final : public policy::Policy {
 public:
  BerthPreemptive(const BerthOptions& options, BerthCounts& counts, const model::Workload* workload)
      : options_(options), counts_(counts), prices_(options), order_(options, workload) {}
  void decide(policy::State& state) override;
  bool save(ByteWriter& writer) const override {
    writer(counts_, present_, standing_, last_, held_, changed_, complete_);
    prices_.save(writer);
    return true;
  }
  void restore(ByteReader& reader) override {
    reader(counts_, present_, standing_, last_, held_, changed_, complete_);
    prices_.restore(reader);
  }
  [[nodiscard]] bool starts_all_that_fit() const override { return complete_ && !held_; }

 private:
  struct Served {
    JobId job;
    GpuTypeId type;
    bool first;  ///< it comes first whatever it asks for
  };
  void note_changes(const policy::State& state);
  void start_on_idle(policy::State& state);
  void share_cluster(policy::State& state);
  void refresh_prices(const policy::State& state);
  void count_room(const policy::State& state);
  void choose_types(const policy::State& state);
  [[nodiscard]] GpuTypeId best_type(const policy::State& state, JobId job) const;
  [[nodiscard]] double cost_on(const policy::State& state, JobId job, GpuTypeId type) const;
  void serve(policy::State& state, Displacement& displacement, const Served& served);
  void move(policy::State& state, Displacement& displacement, const Served& served);
  void fill_idle(policy::State& state);
  void ask_to_be_woken(policy::State& state) const;
  [[nodiscard]] std::int64_t& room_on(GpuTypeId type) {
    return room_[type.valid() ? type.index() : room_.size() - 1];
  }
  [[nodiscard]] std::int64_t room_on(GpuTypeId type) const {
    return room_[type.valid() ? type.index() : room_.size() - 1];
  }

  BerthOptions options_;
  BerthCounts& counts_;
  HorizonPrices prices_;
  ServiceIndex order_;
  std::vector<JobId> present_;      ///< arrived and not ended
  std::vector<IndexedJob> queue_;   ///< of this decision; a heap while types are chosen
  std::vector<IndexedJob> losers_;  ///< asked for more than was left
  std::vector<Served> served_;      ///< in order of their index
  std::vector<Standing> standing_;  ///< by JobId
  std::vector<std::int64_t> room_;  ///< GPU thousandths by type, then "none"
  std::int64_t movable_ =
      0;  ///< thousandths that this decision may still move; below 0: the last move took more
  policy::Micros last_ = -policy::kNever;  ///< decision
  bool held_ = false;                      ///< GPUs are kept idle for a job that comes first
  bool changed_ = false;                   ///< arrivals or ends since
  bool complete_ = false;                  ///< this moment had a decision
};

}  // namespace berth::sim
