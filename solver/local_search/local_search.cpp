// SPDX-License-Identifier: Apache-2.0
// The searches of the dive as functions on an occupancy.
#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"
#include "local_search/cyclic_exchange.hpp"
#include "local_search/ejection_chains.hpp"
#include "local_search/gang_exchange.hpp"
#include "local_search/machine_repartition.hpp"
#include "local_search/machines_of.hpp"
#include "local_search/return_running_jobs.hpp"
#include "local_search/search_space.hpp"

#include <algorithm>

#include "berth/base/assert.hpp"
#include "berth/planner_model/equal_jobs.hpp"
#include "berth/planner_model/precedence.hpp"
#include "berth/solver/dive.hpp"

namespace berth::solver {
namespace {

/// All jobs of an occupancy with their options, its pools and their order.
class WholeSearchSpace {
 public:
  WholeSearchSpace(Occupancy& occupancy, const planner_model::Pools& pools)
      : jobs_(all_jobs(occupancy)),
        ranks_(planner_model::precedence_ranks(occupancy.valuation(), jobs_)),
        pool_index_(occupancy.valuation().instance().cluster, pools),
        option_table_(occupancy.valuation(), pool_index_, jobs_),
        machines_(pool_index_, occupancy.machines()),
        space_{.state = occupancy,
               .option_table = option_table_,
               .pool_index = pool_index_,
               .machines = machines_,
               .jobs = jobs_,
               .ranks = ranks_} {}
  WholeSearchSpace(const WholeSearchSpace&) = delete;
  WholeSearchSpace& operator=(const WholeSearchSpace&) = delete;

  [[nodiscard]] const local_search::SearchSpace<Occupancy>& operator*() const { return space_; }

 private:
  static std::vector<JobId> all_jobs(const Occupancy& occupancy) {
    std::vector<JobId> jobs;
    for (const JobEntry& entry : occupancy.entries()) jobs.push_back(entry.job());
    return jobs;
  }

  std::vector<JobId> jobs_;
  std::vector<std::uint32_t> ranks_;
  assignment::PoolIndex pool_index_;
  assignment::OptionTable option_table_;
  assignment::PoolMachines machines_;
  local_search::SearchSpace<Occupancy> space_;
};

/// Hands places over among equal jobs (`planner_model::handovers`); total value and loads of the
/// places do not change.
void serve_equal_jobs(Occupancy& occupancy) {
  const planner_model::Valuation& valuation = occupancy.valuation();
  const model::WorkloadView& workload = valuation.instance().workload;
  std::vector<planner_model::EqualJob> jobs;
  for (const JobEntry& entry : occupancy.entries()) {
    const model::Job& job = workload.job(entry.job());
    if (job.running >= 0) continue;
    jobs.push_back({.of = planner_model::job_class(workload, job),
                    .precedence = planner_model::precedence(valuation, entry.job()),
                    .placed = entry.is_placed(),
                    .value = entry.value});
  }
  const std::vector<planner_model::Handover> all = planner_model::handovers(std::move(jobs));
  std::vector<model::JobPlacement> given;
  for (const planner_model::Handover& h : all) {
    given.push_back({.job = h.to, .tasks = occupancy.placed(h.from).tasks});
    occupancy.give_back(h.from);
  }
  for (model::JobPlacement& p : given) occupancy.take(std::move(p));
}

}  // namespace

double improve(Occupancy& occupancy, const PricedPools& pools, const SearchEffort& effort,
               const StopToken& stop) {
  BERTH_EXPECT(pools.prices.size() == pools.pools.size());
  const WholeSearchSpace space(occupancy, pools.pools);
  double gained = local_search::repartition_machines(*space, effort.repartitions, stop);
  gained += local_search::run_ejection_chains(*space, pools.prices, effort.chains, stop);
  gained += local_search::return_running_jobs(occupancy, stop);
  gained += local_search::exchange_gangs(occupancy, stop);
  return gained;
}

double cyclic_exchange(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
                       std::vector<JobId>& unplaced, model::Placement& placed,
                       const StopToken& stop, const planner_model::CouplingLimits* limits) {
  Occupancy occupancy(valuation, local_search::machines_of(placed), limits);
  std::vector<JobId> jobs = unplaced;
  for (const model::JobPlacement& p : placed) jobs.push_back(p.job);
  occupancy.admit(jobs);
  for (model::JobPlacement& p : placed) occupancy.take(std::move(p));
  const WholeSearchSpace space(occupancy, pools);
  planner_model::LimitUsage& limit_usage = occupancy.limit_usage();
  double gained = 0.0;
  for (local_search::CyclicExchange<Occupancy>& exchange : local_search::make_exchanges(*space)) {
    // No profile may use slack that another one frees: profiles may be exchanged on different
    // ranks.
    for (std::size_t l = 0; l < limit_usage.size(); ++l) limit_usage.allow(l, limit_usage.use(l));
    if (!stop.requested()) gained += exchange.cancel_cycles();
  }
  serve_equal_jobs(occupancy);
  placed = occupancy.placement();
  unplaced = occupancy.unplaced_jobs();
  return gained;
}

}  // namespace berth::solver
