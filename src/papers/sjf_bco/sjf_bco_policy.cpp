// SPDX-License-Identifier: Apache-2.0
#include "sjf_bco_policy.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "berth/base/error.hpp"

namespace berth::papers {
namespace {

using policy::Micros;
using policy::Phase;
using policy::State;

/// A ring of workers with one whole GPU each, of fixed size, on any machines.
bool is_ring(const PaperWorld& world, JobId id) {
  const model::Workload& workload = world.instance.workload;
  const model::Job& job = workload.job(id);
  const auto groups = workload.groups_of(job);
  if (!world.profiles.has(id)) return false;
  if (world.profiles.jobs[id.index()].kind != speed::ProfileKind::ring || groups.size() != 1)
    return false;
  const model::Shape& shape = workload.shape(groups[0].shape);
  return shape.gpus == 1 && shape.gpu_milli == 0 &&
         workload.configurations[workload.time_of(job).configurations].empty() &&
         policy::demand_of(world.instance, job).domain == model::Level::cluster;
}

void check_jobs(const PaperWorld& world) {
  constexpr std::size_t kMost = 5;
  std::size_t wrong = 0;
  std::string names;
  for (std::size_t j = 0; j < world.instance.workload.size(); ++j) {
    if (is_ring(world, JobId(j))) continue;
    if (++wrong > kMost) continue;
    names += (wrong > 1 ? ", " : "") + std::string(world.instance.workload.job_names[j]);
  }
  if (wrong == 0) return;
  if (wrong > kMost) names += " and " + std::to_string(wrong - kMost) + " more";
  throw InputError({.file = "", .line = 0, .field = "model"},
                   "sjf-bco needs rings of fixed size, workers of one shape with a GPU each, "
                   "without a domain; others: " +
                       names,
                   "--profiles gives jobs a profile of the model \"ring\"");
}

void check_cluster(const model::Cluster& cluster) {
  GpuTypeId type;
  for (const model::MachineClass& machines : cluster.classes) {
    if (machines.gpus == 0) continue;
    if (type.valid() && machines.gpu_type != type) {
      throw InputError({.file = "", .line = 0, .field = "gpu_type"},
                       "sjf-bco knows one GPU type, the cluster has several",
                       "give it the machines of one type");
    }
    type = machines.gpu_type;
  }
}

const PaperWorld& checked(const PaperWorld& world) {
  check_cluster(world.instance.cluster);
  check_jobs(world);
  return world;
}

}  // namespace

void SjfBcoPolicy::WorkSpeeds::rates(std::span<const speed::RunningJob> running,
                                     std::span<speed::Rate> rates) const {
  model_->rates(running, rates);
  for (speed::Rate& rate : rates) rate.per_second *= static_cast<double>(policy::kSecond);
}

SjfBcoPolicy::SjfBcoPolicy(const PaperWorld& world)
    : profiled_(checked(world).instance, world.profiles, 0.0),
      speeds_(profiled_),
      line_(gpu_line(world.instance.cluster)),
      accumulated_(line_.size()) {
  const model::Workload& workload = world.instance.workload;
  for (std::size_t m = 0; m < world.instance.cluster.machines(); ++m) {
    first_.push_back(m == 0 ? 0 : first_.back() + static_cast<std::size_t>(batch_.servers.back()));
    batch_.servers.push_back(world.instance.cluster.class_of(MachineId(m)).gpus);
  }
  batch_.speeds = &speeds_;
  for (std::size_t j = 0; j < workload.size(); ++j)
    batch_.jobs.push_back({.gpus = workload.groups_of(workload.job(JobId(j)))[0].count});
}

/// The cluster now, with the jobs that run.
BatchClock SjfBcoPolicy::clock_of(const State& state) const {
  BatchClock clock(batch_);
  for (const JobId job : state.running()) {
    std::vector<std::uint32_t> gpus;
    for (const model::TaskPlacement& task : state.progress(job).tasks) {
      const auto device = static_cast<std::size_t>(std::countr_zero(task.devices));
      gpus.push_back(static_cast<std::uint32_t>(first_[task.machine.index()] + device));
    }
    clock.start(job.index(), gpus);
  }
  for (std::uint32_t g = 0; g < line_.size(); ++g) {
    const std::uint64_t free = state.free().machine(line_[g].machine).whole();
    if (clock.gpus()[g].idle && (free >> line_[g].device & 1) == 0) clock.close(g);
    clock.set_accumulated(g, accumulated_[g]);
  }
  return clock;
}

/// Finds limit and threshold for the jobs that wait, from now on.
void SjfBcoPolicy::plan(const State& state, std::span<const std::size_t> order) {
  std::ranges::fill(accumulated_, 0.0);
  double seconds = 0.0;
  for (const JobId job : state.running()) {
    RingBatchJob& ring = batch_.jobs[job.index()];
    ring.iterations = state.remaining(job);
    const double rate = state.progress(job).speed * static_cast<double>(policy::kSecond);
    ring.estimate = static_cast<double>(ring.iterations) / std::max(rate, 1.0);
    seconds += ring.estimate;
    for (const model::TaskPlacement& task : state.progress(job).tasks) {
      const auto device = static_cast<std::size_t>(std::countr_zero(task.devices));
      accumulated_[first_[task.machine.index()] + device] = ring.estimate;
    }
  }
  for (const std::size_t job : order) seconds += batch_.jobs[job].estimate;
  options_.horizon = static_cast<std::int64_t>(seconds) + 1;  // binds no GPU
  const LimitChoice found = best_limit(clock_of(state), order, options_);
  limit_ = found.schedule.complete ? found.limit : static_cast<double>(options_.horizon);
  kappa_ = found.kappa;
}

bool SjfBcoPolicy::start(State& state, std::size_t job, std::span<const std::uint32_t> gpus) const {
  const JobId id(job);
  std::vector<model::TaskPlacement> tasks;
  for (const std::uint32_t gpu : gpus) {
    tasks.push_back({.machine = line_[gpu].machine,
                     .group = state.demand(id).groups.front().group,
                     .devices = std::uint64_t{1} << line_[gpu].device,
                     .milli = static_cast<std::int32_t>(model::kGpuMilli)});
  }
  std::ranges::sort(tasks);
  return state.start_on(id, state.demand(id).types.front(), tasks);
}

/// The first job that does not fit holds up the others.
void SjfBcoPolicy::start_in_order(State& state, std::span<const std::size_t> order) {
  BatchClock clock = clock_of(state);
  for (const std::size_t job : order) {
    const auto gpus = batch_.jobs[job].gpus <= kappa_
                          ? fragment_aware_gpus(clock, job, limit_, options_)
                          : least_busy_gpus(clock, job, limit_, options_);
    if (gpus.empty() || !start(state, job, gpus)) break;
    clock.start(job, gpus);
    for (const std::uint32_t gpu : gpus) accumulated_[gpu] += batch_.jobs[job].estimate;
  }
}

void SjfBcoPolicy::decide(State& state) {
  std::vector<std::size_t> order;
  for (std::size_t j = 0; j < state.size(); ++j) {
    if (state.progress(JobId(j)).phase != Phase::waiting) continue;
    batch_.jobs[j].iterations = state.remaining(JobId(j));
    batch_.jobs[j].estimate = static_cast<double>(batch_.jobs[j].iterations) /
                              static_cast<double>(best_iterations_per_slot(batch_, j));
    order.push_back(j);
  }
  if (order.empty()) return;
  std::ranges::stable_sort(order, {}, [&](std::size_t j) {
    return std::pair(batch_.jobs[j].gpus, batch_.jobs[j].estimate);
  });
  if (!state.arrived().empty()) plan(state, order);
  start_in_order(state, order);
  if (!state.running().empty()) return;
  // Runs that took longer than planned leave jobs that fit no GPU's limit, and no event would come.
  limit_ = static_cast<double>(options_.horizon);
  start_in_order(state, order);
}

std::unique_ptr<policy::Policy> make_sjf_bco(const PaperWorld& world) {
  return std::make_unique<SjfBcoPolicy>(world);
}

}  // namespace berth::papers
