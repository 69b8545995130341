// SPDX-License-Identifier: Apache-2.0
#include "local_search/fill.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "berth/model/gpu_types.hpp"
#include "berth/model/precedence.hpp"

namespace berth::solver::local_search {

namespace {

/// The next option of a job to try.
struct FillCandidate {
  double worth;  ///< value per GPU thousandth; infinite for a required job
  double value;
  std::uint32_t rank;  ///< of the job by precedence
  std::size_t position;
  std::size_t next;  ///< index among its options

  bool operator<(const FillCandidate& o) const {  // largest on top of a priority_queue
    return std::tuple(worth, value, o.rank) < std::tuple(o.worth, o.value, rank);
  }
};

void fill_gpus(const model::Workload& workload, const assignment::OptionTable& option_table,
               assignment::FreePools& free_pools, assignment::PlacementTable& placements,
               const StopToken& stop) {
  std::vector<char> full(option_table.place_classes().size(), 0);  // room only shrinks here
  const auto candidate = [&](std::size_t position, std::size_t next) {
    const double value = option_table.options(position)[next].value;
    const auto milli = option_table.profiles()[option_table.profile_of(position)].milli;
    const bool required = workload.job(placements.jobs[position]).required;
    const double worth =
        required ? std::numeric_limits<double>::infinity() : value / static_cast<double>(milli);
    return FillCandidate{worth, value, placements.rank[position], position, next};
  };
  std::priority_queue<FillCandidate> queue;
  for (std::size_t i = 0; i < placements.jobs.size(); ++i) {
    if (!placements.is_placed(i) && !option_table.options(i).empty()) queue.push(candidate(i, 0));
  }
  while (!queue.empty() && !stop.requested()) {
    const FillCandidate c = queue.top();
    queue.pop();
    const auto options = option_table.options(c.position);
    const std::uint32_t s = options[c.next].place_class;
    if (full[s] == 0) {
      const assignment::PlaceClass& place_class = option_table.place_classes()[s];
      auto placed = free_pools.place(placements.jobs[c.position], option_table.profile(place_class),
                                     place_class, {});
      if (placed) {
        placements.placed[c.position] = std::move(*placed);
        continue;
      }
      full[s] = 1;
    }
    if (c.next + 1 < options.size()) queue.push(candidate(c.position, c.next + 1));
  }
}

/// The machines in the order CPU-only jobs look at them: without GPUs first, then by id.
std::vector<MachineId> cpu_order(const assignment::FreePools& free_pools) {
  std::vector<MachineId> order(free_pools.cpu_machines().begin(), free_pools.cpu_machines().end());
  for (const MachineId m : free_pools.machines()) {
    if (free_pools.instance().cluster.class_of(m).gpus > 0) order.push_back(m);
  }
  return order;
}

/// The machines (ascending) of each domain of a level.
std::vector<std::vector<MachineId>> machines_by_domain(const assignment::FreePools& free_pools,
                                                       model::Level level) {
  const model::Cluster& cluster = free_pools.instance().cluster;
  std::vector<std::vector<MachineId>> runs;
  for (const MachineId m : free_pools.machines()) {
    const bool joins = !runs.empty() && [&] {
      const MachineId o = runs.back().front();
      if (level == model::Level::cluster) return true;
      if (level == model::Level::pod) return cluster.pod_of(o) == cluster.pod_of(m);
      return level == model::Level::rack &&
             cluster.machine_rack[o.index()] == cluster.machine_rack[m.index()];
    }();
    if (!joins) runs.emplace_back();
    runs.back().push_back(m);
  }
  return runs;
}

/// CPU-only jobs into what is left, by precedence. A machine that was
/// too small for a shape stays so, since room only shrinks: every shape keeps its first candidate.
class CpuFill {
 public:
  CpuFill(const assignment::OptionTable& option_table, assignment::FreePools& free_pools,
          assignment::PlacementTable& placements)
      : option_table_(&option_table),
        free_pools_(&free_pools),
        placements_(&placements),
        order_(cpu_order(free_pools)),
        next_(option_table.profiles().size(), 0) {}

  void place(std::size_t position) {
    const std::uint32_t s = option_table_->profile_of(position);
    const model::Workload& workload = free_pools_->instance().workload;
    const model::Job& job = workload.job(placements_->jobs[position]);
    if (job.gpu_types != ~std::uint64_t{0}) return place_on_types(position, job);
    if (option_table_->profiles()[s].tasks == 1) {
      const auto fits = [&](MachineId m) {
        return free_pools_->room().fits(m, workload.shape(workload.groups_of(job).front().shape));
      };
      while (next_[s] < order_.size() && !fits(order_[next_[s]])) ++next_[s];
      if (next_[s] < order_.size()) attempt(position, std::span(order_).subspan(next_[s], 1));
      return;
    }
    if (next_[s] > static_cast<std::size_t>(job.domain)) return;  // failed at this level before
    for (const auto& run : machines_by_domain(*free_pools_, job.domain)) {
      if (attempt(position, run)) return;
    }
    next_[s] = static_cast<std::size_t>(job.domain) + 1;
  }

 private:
  /// A list of types holds for CPU-only jobs as well.
  void place_on_types(std::size_t position, const model::Job& job) {
    const model::Cluster& cluster = free_pools_->instance().cluster;
    for (std::vector<MachineId> run : machines_by_domain(*free_pools_, job.domain)) {
      std::erase_if(run, [&](MachineId m) {
        const GpuTypeId type = cluster.class_of(m).gpu_type;
        return !type.valid() || !model::allows(job, type);
      });
      if (attempt(position, run)) return;
    }
  }

  bool attempt(std::size_t position, std::span<const MachineId> machines) {
    auto placed = model::place_job(free_pools_->room(), free_pools_->instance().workload,
                                   placements_->jobs[position], machines);
    if (placed) placements_->placed[position] = std::move(*placed);
    return placed.has_value();
  }

  const assignment::OptionTable* option_table_;
  assignment::FreePools* free_pools_;
  assignment::PlacementTable* placements_;
  std::vector<MachineId> order_;
  std::vector<std::size_t> next_;  ///< by task profile
};

void fill_cpus(const assignment::OptionTable& option_table, assignment::FreePools& free_pools,
               assignment::PlacementTable& placements, const StopToken& stop) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < placements.jobs.size(); ++i) {
    if (!placements.is_placed(i) && option_table.profiles()[option_table.profile_of(i)].milli == 0)
      order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return placements.rank[i]; });
  CpuFill cpus(option_table, free_pools, placements);
  for (const std::size_t position : order) {
    if (stop.requested()) return;
    cpus.place(position);
  }
}

}  // namespace

void fill_idle_capacity(const model::Valuation& valuation,
                        const assignment::OptionTable& option_table,
                        assignment::FreePools& free_pools, assignment::PlacementTable& placements,
                        const StopToken& stop) {
  fill_gpus(valuation.instance().workload, option_table, free_pools, placements, stop);
  fill_cpus(option_table, free_pools, placements, stop);
}

}  // namespace berth::solver::local_search
