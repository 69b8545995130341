// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/shard.hpp"

#include "shard/shard_state.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <utility>

#include "berth/planner_model/occupied_gpus.hpp"
#include "berth/planner_model/option_enumerator.hpp"

namespace berth::solver {

using model::JobPlacement;

double ShardState::regret(JobId job, std::span<const double> price) const {
  const model::Job& record = workload().job(job);
  const double gpus =
      static_cast<double>(planner_model::occupied_gpus(valuation->instance(), record).milli) /
      1000.0;
  double best = -std::numeric_limits<double>::infinity();
  const planner_model::OptionEnumerator job_options(*valuation, job);
  for (const GpuTypeId type : job_options.types()) {
    best = std::max(best, job_options.best(type) - gpus * price[type.index()]);
  }
  return best;
}

Shard::Shard(ShardId id, const planner_model::Valuation& valuation,
             const planner_model::Pools& pools, std::vector<MachineId> machines,
             const ShardOptions& options, const RunContext& run)
    : state_(std::make_unique<ShardState>(
          ShardState{.id = id,
                     .valuation = &valuation,
                     .pools = &pools,
                     .machines = machines,
                     .options = options,
                     .run = run,
                     .occupancy = Occupancy(valuation, machines, run.limits)})) {
  classify_place_limits(*state_);
}

Shard::~Shard() = default;
Shard::Shard(Shard&&) noexcept = default;
Shard& Shard::operator=(Shard&&) noexcept = default;

Shard Shard::empty_copy(ShardId id, std::vector<MachineId> machines) const {
  return {id,         *state_->valuation, *state_->pools, std::move(machines), state_->options,
          state_->run};
}

void Shard::reserve(const JobPlacement& placement) {
  planner_model::take(state_->occupancy.room(), state_->workload(), placement);
}

namespace {

/// True when the devices are as many, and as much of each, as the shape takes.
bool matches(const model::TaskPlacement& task, const model::Shape& shape,
             const model::MachineClass& machine) {
  if (shape.gpus > 0)
    return std::popcount(task.devices) == shape.gpus && task.milli == model::kGpuMilli;
  if (shape.gpu_milli == 0) return task.devices == 0;
  return std::popcount(task.devices) == 1 &&
         task.milli == model::share_taken(shape.gpu_milli, machine.gpu_slices);
}

/// True when these are tasks of the job on free room of this shard's machines.
bool can_take(ShardState& shard, const JobPlacement& placement) {
  const model::WorkloadView& workload = shard.workload();
  const auto groups = workload.groups_of(workload.job(placement.job));
  const model::Cluster& cluster = shard.valuation->instance().cluster;
  const auto known = [&](const model::TaskPlacement& task) {
    return task.group < groups.size() && shard.occupancy.room().holds(task.machine) &&
           matches(task, workload.shape(groups[task.group].shape),
                   cluster.classes[cluster.machine_class[task.machine.index()].index()]);
  };
  return std::ranges::all_of(placement.tasks, known) && shard.occupancy.is_free(placement);
}

}  // namespace

void Shard::restore(ShardContent content) {
  std::vector<JobId> jobs = content.unplaced;
  for (const JobPlacement& p : content.placed) jobs.push_back(p.job);
  state_->occupancy.admit(jobs);
  for (JobPlacement& p : content.placed) {
    BERTH_EXPECT(can_take(*state_, p));  // a forged checkpoint may break this
    state_->occupancy.take(std::move(p));
  }
  state_->evicted.insert(content.evicted.begin(), content.evicted.end());
  state_->least_price.assign(state_->valuation->instance().cluster.gpu_types.size(), 0.0);
}

ShardContent Shard::content() const {
  const ShardState& s = *state_;
  return {.placed = s.occupancy.placement(),
          .unplaced = s.occupancy.unplaced_jobs(),
          .evicted = {s.evicted.begin(), s.evicted.end()}};
}

bool Shard::is_waiting(JobId job) const { return state_->occupancy.is_waiting(job); }

std::vector<JobId> Shard::jobs() const {
  std::vector<JobId> jobs;
  for (const JobEntry& entry : state_->occupancy.entries()) jobs.push_back(entry.job());
  return jobs;
}

void Shard::forget(JobId job) {
  if (is_waiting(job)) state_->occupancy.forget(job);
}

void Shard::unplace(JobId job) {
  if (!state_->occupancy.is_placed(job)) return;
  state_->occupancy.give_back(job);
  state_->evicted.insert(job);
}

void Shard::unreserve(const JobPlacement& placement) {
  planner_model::release(state_->occupancy.room(), state_->workload(), placement);
  if (!std::ranges::binary_search(state_->machines, placement.tasks.front().machine)) return;
  state_->occupancy.admit(placement.job);
  state_->evicted.insert(placement.job);
}

void Shard::update_prices(std::span<const double> by_type) {
  state_->least_price.assign(by_type.begin(), by_type.end());
}

ShardId Shard::id() const { return state_->id; }

std::int64_t ShardState::gpus() const {
  std::int64_t sum = 0;
  for (const MachineId m : machines) sum += valuation->instance().cluster.class_of(m).gpus;
  return sum;
}

double Shard::gpus() const { return static_cast<double>(state_->gpus()); }

double Shard::value() const { return state_->occupancy.value(); }
model::Placement Shard::placement() const { return state_->occupancy.placement(); }
const std::vector<std::vector<TaskPrice>>& Shard::task_prices() const {
  return state_->task_prices;
}

}  // namespace berth::solver
