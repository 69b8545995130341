// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/bound.hpp"

#include "case_tree.hpp"
#include "exact.hpp"
#include "job_value.hpp"
#include "machine_profit_bound.hpp"
#include "pricing.hpp"
#include "search/best_first_bound.hpp"
#include "search/gang_search.hpp"
#include "stay_gains.hpp"
#include "whole_job_bound.hpp"
#include "whole_job_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::certify {
namespace {

using model::InstanceView;

Int128 machines_term(const PriceTable& price_table, const MachineProfitBound& worth) {
  Int128 total = 0;
  for (const PricedPool& pool : price_table.pools()) total += worth(pool) * pool.machines;
  return total;
}

/// Value of the machines beside the devices that are entirely free.
Int128 beyond_devices(const PriceTable& price_table, const MachineProfitBound& worth) {
  Int128 total = 0;
  for (const PricedPool& pool : price_table.pools())
    total += worth.beyond_devices(pool) * pool.machines;
  return total;
}

/// What machines earn by running jobs that stay and by gangs with prices, beyond `machines_term`.
Int128 stays_and_gangs_term(const Pricing& pricing, const MachineProfitBound& worth,
                            std::span<const StayItem> items) {
  Int128 total = 0;
  const std::vector<MachineGain> stays = stay_gains(pricing.price_table, worth, items);
  for (const MachineGain& gain : stays) total += gain.amount;
  for (const auto& gain : pricing.gangs.gains(pricing.price_table, worth, stays)) {
    total += gain.amount;
  }
  return total;
}

/// The terms that depend on prices of jobs.
struct Contents {
  Int128 devices = 0;  ///< devices filled with tasks and with whole jobs that have a price
  Int128 jobs = 0;     ///< sum of these prices

  [[nodiscard]] Int128 sum() const { return devices + jobs; }
};

/// The largest sum over the leaves of the tree; ties: the first leaf.
Contents contents_term(const Pricing& pricing, const CaseTree& tree,
                       const MachineProfitBound& worth) {
  std::vector<Contents> by_leaf(tree.leaves());
  parallel::run_tasks(tree.leaves(), [&](std::size_t l) {
    const Leaf leaf = tree.leaf(l);
    for (const auto& j : leaf.prices) by_leaf[l].jobs += j.price;
    for (const Int128 most : whole_job_bounds(pricing, tree.spots(), leaf, worth)) {
      by_leaf[l].devices += most;
    }
  });
  return *std::ranges::max_element(by_leaf, {}, &Contents::sum);
}

Int128 floor_to_integer(Int128 x, int scale) {
  return scale <= 0 ? x : (x >> scale) * (Int128{1} << scale);
}

/// Free GPU thousandths of all machines, in the certificate's units.
Int128 capacity_of(const PriceTable& price_table, int scale) {
  return fixed_up(static_cast<double>(price_table.free_milli()), scale);  // below 2^53: exact
}

/// Clusters of more GPUs: which place holds which gang counts, not which machine holds which task.
constexpr std::int64_t kMostSearchedGpus = 128;
constexpr std::size_t kMostGangs = 64;

/// Of the search over placements, or over places of few gangs in a larger cluster. Empty: none.
std::optional<Int128> searched(const InstanceView& instance, model::Objective objective,
                               const model::Certificate& certificate,
                               std::span<const JobId> required_placed) {
  const std::int64_t steps = certificate.search_steps;
  const int scale = certificate.scale_log2;
  if (instance.cluster.gpus() > kMostSearchedGpus) {
    if (const auto gangs = search::gang_problem(instance, objective, scale, kMostGangs)) {
      return gangs->others + search::most_of_gangs(*gangs, steps);
    }
  }
  return search::best_first_bound(instance, objective, scale, required_placed, steps);
}

}  // namespace

Bound upper_bound(const InstanceView& instance, model::Objective objective,
                  const model::Certificate& certificate, std::span<const JobId> required_placed) {
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const JobFacts facts = job_facts(instance, objective, jobs);
  BERTH_EXPECT(unusable(instance, objective, certificate, facts).empty());
  const JobBests bests = job_bests(instance, objective, certificate, facts, jobs);
  const JobTerms terms = job_terms(instance, certificate, jobs, bests, required_placed);
  return upper_bound(instance, objective, certificate, facts, terms, required_placed);
}

Bound upper_bound(const InstanceView& instance, model::Objective objective,
                  const model::Certificate& certificate, const JobFacts& facts,
                  const JobTerms& terms, std::span<const JobId> required_placed) {
  const Pricing pricing(instance, objective, certificate);
  const PriceTable& price_table = pricing.price_table;
  Bound bound{.scale_log2 = certificate.scale_log2, .free_milli = price_table.free_milli()};
  const MachineProfitBound worth(instance, price_table, certificate, facts);
  Contents contents;
  if (certificate.jobs.empty()) {
    bound.machines = machines_term(price_table, worth);
  } else {
    const CaseTree tree(instance, certificate, required_placed);
    BERTH_EXPECT(tree.fault().empty());
    contents = contents_term(pricing, tree, worth);
    bound.leaf = contents.sum();
    bound.machines = contents.devices + beyond_devices(price_table, worth);
  }
  const Int128 stopped = stop_costs(instance.workload, objective, bound.scale_log2, fixed_down);
  bound.jobs =
      terms.net + stays_and_gangs_term(pricing, worth, terms.stays) - stopped + contents.jobs;
  bound.zero_price = terms.gross - stopped;
  if (certificate.whole_jobs.in_cluster()) {
    bound.chosen = chosen_in_cluster(pricing, certificate, terms.choices);
  } else {
    bound.chosen = chosen_at_home(pricing, terms.choices);
    bound.shared = price_table.quota_prices().capacity_value(pricing.quotas);
  }
  bound.shared += bound.chosen;
  for (const Int128 value : price_table.place_limits().capacity_value()) bound.shared += value;
  bound.exact = std::min(bound.machines + bound.shared + bound.jobs, bound.zero_price);
  if (model::traits(objective).gpu_milli && instance.workload.tables().weights.empty()) {
    bound.capacity = capacity_of(price_table, bound.scale_log2);
    bound.exact = std::min(bound.exact, bound.capacity);
  }
  if (certificate.search_steps > 0) {
    bound.search = searched(instance, objective, certificate, required_placed);
    if (bound.search) bound.exact = std::min(bound.exact, *bound.search -= stopped);
  }
  const bool spare_costs = model::traits(objective).costs && !instance.cluster.spare.empty();
  if (terms.integral && !spare_costs && pricing.quotas.integral(facts))
    bound.exact = floor_to_integer(bound.exact, bound.scale_log2);
  bound.value = double_up(bound.exact, bound.scale_log2);
  return bound;
}

std::vector<JobId> staying_jobs(const InstanceView& instance, model::Objective objective,
                                const model::Certificate& certificate, const JobFacts& facts,
                                std::span<const StayItem> items) {
  const Pricing pricing(instance, objective, certificate);
  const MachineProfitBound worth(instance, pricing.price_table, certificate, facts);
  return staying_jobs(pricing.price_table, worth, items);
}

std::vector<double> job_profits(const InstanceView& instance, model::Objective objective,
                                const model::Certificate& certificate) {
  const int scale = certificate.scale_log2;
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  BERTH_EXPECT(unusable(instance, objective, certificate).empty());
  const JobFacts facts = job_facts(instance, objective, jobs);
  const auto bests = job_bests(instance, objective, certificate, facts, jobs);
  std::vector<double> profits(instance.workload.size(), 0.0);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& net = bests.best[i].net;
    if (net && *net > 0) profits[jobs[i].index()] = double_up(*net, scale);
  }
  return profits;
}

}  // namespace berth::certify
