// SPDX-License-Identifier: Apache-2.0
#include "local_search/fill.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "berth/planner_model/gpu_types.hpp"
#include "berth/planner_model/precedence.hpp"

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

void fill_gpus(const SearchSpace& space, assignment::FreePools& free_pools, const StopToken& stop) {
  const assignment::OptionTable& option_table = space.option_table;
  std::vector<char> full(option_table.place_classes().size(), 0);  // room only shrinks here
  const auto candidate = [&](std::size_t position, std::size_t next) {
    const double value = option_table.options(position)[next].value;
    const auto milli = space.profile(position).milli;
    const bool required = space.job(position).required;
    const double worth =
        required ? std::numeric_limits<double>::infinity() : value / static_cast<double>(milli);
    return FillCandidate{worth, value, space.ranks[position], position, next};
  };
  std::priority_queue<FillCandidate> queue;
  for (std::size_t i = 0; i < space.jobs.size(); ++i) {
    if (!space.is_placed(i) && !option_table.options(i).empty()) queue.push(candidate(i, 0));
  }
  while (!queue.empty() && !stop.requested()) {
    const FillCandidate c = queue.top();
    queue.pop();
    const auto options = option_table.options(c.position);
    const std::uint32_t s = options[c.next].place_class;
    if (full[s] == 0) {
      const assignment::PlaceClass& place_class = option_table.place_classes()[s];
      if (free_pools.place(space.jobs[c.position], option_table.profile(place_class), place_class,
                           {}))
        continue;
      full[s] = 1;
    }
    if (c.next + 1 < options.size()) queue.push(candidate(c.position, c.next + 1));
  }
}

/// The machines in the order CPU-only jobs look at them: without GPUs first, then by id.
std::vector<MachineId> cpu_order(const Occupancy& occupancy) {
  const model::Cluster& cluster = occupancy.valuation().instance().cluster;
  std::vector<MachineId> order(occupancy.machines().begin(), occupancy.machines().end());
  std::ranges::stable_partition(order, [&](MachineId m) { return cluster.class_of(m).gpus == 0; });
  return order;
}

/// CPU-only jobs into what is left, by precedence. A machine that was
/// too small for a shape stays so, since room only shrinks: every shape keeps its first candidate.
class CpuFill {
 public:
  explicit CpuFill(const SearchSpace& space)
      : space_(space),
        order_(cpu_order(space.occupancy)),
        next_(space.option_table.profiles().size(), 0) {}

  void place(std::size_t position) {
    const std::uint32_t s = space_.option_table.profile_of(position);
    const model::WorkloadView& workload = space_.instance().workload;
    const model::Job& job = space_.job(position);
    if (job.gpu_types != ~std::uint64_t{0}) return place_on_types(position, job);
    if (space_.profile(position).tasks == 1) {
      const auto fits = [&](MachineId m) {
        return space_.occupancy.room().fits(m,
                                            workload.shape(workload.groups_of(job).front().shape));
      };
      while (next_[s] < order_.size() && !fits(order_[next_[s]])) ++next_[s];
      if (next_[s] < order_.size()) attempt(position, std::span(order_).subspan(next_[s], 1));
      return;
    }
    if (next_[s] > static_cast<std::size_t>(job.domain)) return;  // failed at this level before
    for (const Domain& domain : domains(job.domain)) {
      if (attempt(position, domain.machines)) return;
    }
    next_[s] = static_cast<std::size_t>(job.domain) + 1;
  }

 private:
  /// A list of types holds for CPU-only jobs as well.
  void place_on_types(std::size_t position, const model::Job& job) {
    const model::Cluster& cluster = space_.instance().cluster;
    for (const Domain& domain : domains(job.domain)) {
      std::vector<MachineId> run = domain.machines;
      std::erase_if(run, [&](MachineId m) {
        const GpuTypeId type = cluster.class_of(m).gpu_type;
        return !type.valid() || !planner_model::allows(job, type);
      });
      if (attempt(position, run)) return;
    }
  }

  /// Of all machines; a job within one machine finds one in any rack.
  [[nodiscard]] std::span<const Domain> domains(model::Level level) const {
    return space_.occupancy.index().domains(GpuTypeId{}, std::max(level, model::Level::rack));
  }

  bool attempt(std::size_t position, std::span<const MachineId> machines) {
    auto placed = space_.occupancy.fit(space_.jobs[position], machines);
    if (placed) space_.occupancy.take(std::move(*placed));
    return placed.has_value();
  }

  SearchSpace space_;
  std::vector<MachineId> order_;
  std::vector<std::size_t> next_;  ///< by task profile
};

void fill_cpus(const SearchSpace& space, const StopToken& stop) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < space.jobs.size(); ++i) {
    if (!space.is_placed(i) && space.profile(i).milli == 0) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return space.ranks[i]; });
  CpuFill cpus(space);
  for (const std::size_t position : order) {
    if (stop.requested()) return;
    cpus.place(position);
  }
}

}  // namespace

void fill_idle_capacity(const SearchSpace& space, assignment::FreePools& free_pools,
                        const StopToken& stop) {
  fill_gpus(space, free_pools, stop);
  fill_cpus(space, stop);
}

}  // namespace berth::solver::local_search
