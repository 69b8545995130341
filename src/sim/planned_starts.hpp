// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_prices.hpp"

#include <span>
#include <vector>

#include "berth/policy/policy.hpp"
#include "berth/sim/berth_policy.hpp"

namespace berth::sim {

/// The horizon plan as a policy that stops no job: waiting jobs in order of their planned starts,
/// each on its planned GPU type, which it may wait for; the first that does not fit is promised the
/// earliest time at which it will, and later ones start that do not delay it. Jobs that arrive
/// between two plans get the start at which time and rent cost least.
///
/// A plan must not trust guesses from history: then jobs start by least GPU-time for their weight
/// wherever they fit, without promises. O(jobs x intervals) a plan, O(waiting log waiting) else.
class PlannedStarts final : public policy::Policy {
 public:
  PlannedStarts(const BerthOptions& options, BerthCounts& counts)
      : options_(options), counts_(counts), prices_(options) {}
  void decide(policy::State& state) override;
  bool save(ByteWriter& writer) const override {
    writer(counts_, waiting_);
    prices_.save(writer);
    return true;
  }
  void restore(ByteReader& reader) override {
    reader(counts_, waiting_);
    prices_.restore(reader);
  }

 private:
  struct PlannedStart {
    double start = 0.0;  ///< microseconds; with history: GPU-time for a unit of weight
    policy::Micros arrival = 0;
    JobId job;
    GpuTypeId type;
    auto operator<=>(const PlannedStart&) const = default;
  };
  void plan(const policy::State& state);
  [[nodiscard]] PlannedStart cheapest_start(const policy::State& state, JobId job) const;
  void start_in_order(policy::State& state);
  void start_what_fits(policy::State& state);

  BerthOptions options_;
  BerthCounts& counts_;
  HorizonPrices prices_;
  std::vector<PlannedStart> waiting_;
};

}  // namespace berth::sim
