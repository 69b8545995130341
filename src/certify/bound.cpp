// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/bound.hpp"

#include "contents.hpp"
#include "exact.hpp"
#include "machine_worth.hpp"
#include "pricing.hpp"
#include "tree.hpp"
#include "worth.hpp"

#include <algorithm>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::certify {
namespace {

using model::Instance;

/// Sums over jobs.
struct JobsTerm {
  Int128 net = 0;
  Int128 gross = 0;
};

JobsTerm jobs_term(std::span<const JobId> jobs, const JobBests& bests,
                   const std::vector<bool>& must, const std::vector<bool>& own_price) {
  BERTH_EXPECT(bests.best.size() == jobs.size());
  JobsTerm sum;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::size_t j = jobs[i].index();
    const JobBest& best = bests.best[i];
    // A required job without an option: no plan places it, so any amount is a bound.
    if (!best.net) continue;
    if (!own_price[j]) sum.net += must[j] ? *best.net : std::max<Int128>(0, *best.net);
    sum.gross += must[j] ? *best.gross : std::max<Int128>(0, *best.gross);
  }
  return sum;
}

Int128 machines_term(const Tariff& tariff, const MachineWorth& worth) {
  Int128 total = 0;
  for (const Stock& pool : tariff.pools()) total += worth(pool) * pool.machines;
  return total;
}

/// What machines are worth whatever lies on the devices that are entirely free.
Int128 beyond_devices(const Tariff& tariff, const MachineWorth& worth) {
  Int128 total = 0;
  for (const Stock& pool : tariff.pools()) total += worth.beyond_devices(pool) * pool.machines;
  return total;
}

/// What hangs on the prices of jobs.
struct Contents {
  Int128 devices = 0;  ///< filled with tasks and with whole jobs that have a price
  Int128 jobs = 0;     ///< these prices

  [[nodiscard]] Int128 sum() const { return devices + jobs; }
};

/// The largest over the leaves of the tree, the first among equals.
Contents contents_term(const Instance& instance, model::Objective objective,
                       const model::Certificate& certificate, const Tree& tree,
                       const Tariff& tariff, const MachineWorth& worth) {
  std::vector<Contents> by_leaf(tree.leaves());
  parallel::run_tasks(tree.leaves(), [&](std::size_t l) {
    const Leaf leaf = tree.leaf(l);
    for (const auto& j : leaf.prices) by_leaf[l].jobs += j.price;
    for (const Int128 most :
         most_contents(instance, objective, certificate, tree.spots(), leaf, tariff, worth)) {
      by_leaf[l].devices += most;
    }
  });
  return *std::ranges::max_element(by_leaf, {}, &Contents::sum);
}

Int128 floor_to_integer(Int128 x, int scale) {
  return scale <= 0 ? x : (x >> scale) * (Int128{1} << scale);
}

/// GPU thousandths that are free on all machines, in the certificate's units.
Int128 capacity_of(const Tariff& tariff, int scale) {
  std::int64_t milli = 0;  // below 2^53: exact as a double
  for (const Stock& pool : tariff.pools()) {
    milli += tariff.kinds()[pool.kind].free_milli() * pool.machines;
  }
  return fixed_up(static_cast<double>(milli), scale);
}

}  // namespace

Bound upper_bound(const Instance& instance, model::Objective objective,
                  const model::Certificate& certificate, std::span<const JobId> required_placed) {
  return upper_bound(
      instance, objective, certificate, required_placed,
      job_bests(instance, objective, certificate, model::planned_jobs(instance.workload)));
}

Bound upper_bound(const Instance& instance, model::Objective objective,
                  const model::Certificate& certificate, std::span<const JobId> required_placed,
                  const JobBests& bests) {  // who has these knows that the prices are usable
  const Pricing pricing(instance, objective, certificate);
  const Tariff& tariff = pricing.tariff;
  std::vector<bool> must(instance.workload.jobs.size(), false);
  for (const JobId job : required_placed) must[job.index()] = true;
  std::vector<bool> own_price(must.size(), false);
  for (const auto& j : certificate.jobs) own_price[j.job.index()] = true;

  Bound bound{.scale_log2 = certificate.scale_log2};
  const MachineWorth worth(instance, tariff, own_price);
  Contents contents;
  if (certificate.jobs.empty()) {
    bound.machines = machines_term(tariff, worth);
  } else {
    const Tree tree(instance, certificate, required_placed);
    BERTH_EXPECT(tree.fault().empty());
    contents = contents_term(instance, objective, certificate, tree, tariff, worth);
    bound.leaf = contents.sum();
    bound.machines = contents.devices + beyond_devices(tariff, worth);
  }
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const JobsTerm term = jobs_term(jobs, bests, must, own_price);
  const Int128 stopped = stop_costs(instance, objective, bound.scale_log2);
  bound.jobs = term.net - stopped + contents.jobs;
  bound.zero_price = term.gross - stopped;
  bound.shared = tariff.tolls().worth(pricing.quotas) + tariff.links().worth();
  bound.exact = std::min(bound.machines + bound.shared + bound.jobs, bound.zero_price);
  if (objective == model::Objective::allocate) {
    bound.capacity = capacity_of(tariff, bound.scale_log2);
    bound.exact = std::min(bound.exact, bound.capacity);
  }
  if (bests.integral && pricing.quotas.integral())
    bound.exact = floor_to_integer(bound.exact, bound.scale_log2);
  bound.value = double_up(bound.exact, bound.scale_log2);
  return bound;
}

std::vector<double> job_profits(const Instance& instance, model::Objective objective,
                                const model::Certificate& certificate) {
  const int scale = certificate.scale_log2;
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const auto bests = job_bests(instance, objective, certificate, jobs);
  std::vector<double> profits(instance.workload.jobs.size(), 0.0);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& net = bests.best[i].net;
    if (net && *net > 0) profits[jobs[i].index()] = double_up(*net, scale);
  }
  return profits;
}

}  // namespace berth::certify
