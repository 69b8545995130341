// SPDX-License-Identifier: Apache-2.0
#include "shard/occupancy.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::solver {

using model::JobPlacement;
using model::Level;

namespace {

/// Appends the machine to the last domain while `same` holds, else opens a new one.
void append(std::vector<Domain>& domains, Level level, MachineId m, auto same) {
  if (domains.empty() || !same(domains.back().machines.back(), m)) domains.push_back({level, {}});
  domains.back().machines.push_back(m);
}

}  // namespace

DomainIndex::DomainIndex(const model::Cluster& cluster, std::span<const MachineId> machines) {
  const auto same_rack = [&](MachineId a, MachineId b) {
    return cluster.machine_rack[a.index()] == cluster.machine_rack[b.index()];
  };
  const auto same_pod = [&](MachineId a, MachineId b) {
    return cluster.pod_of(a) == cluster.pod_of(b);
  };
  for (const MachineId m : machines) {
    const GpuTypeId of_machine = cluster.class_of(m).gpu_type;
    for (const GpuTypeId type : {GpuTypeId{}, of_machine}) {
      append(domains_[{type, Level::rack}], Level::rack, m, same_rack);
      append(domains_[{type, Level::pod}], Level::pod, m, same_pod);
      append(domains_[{type, Level::cluster}], Level::cluster, m, [](auto, auto) { return true; });
      if (!of_machine.valid()) break;
    }
    if (of_machine.valid() && std::ranges::find(types_, of_machine) == types_.end())
      types_.push_back(of_machine);
  }
  std::ranges::sort(types_);
}

std::span<const Domain> DomainIndex::domains(GpuTypeId type, Level level) const {
  const auto found = domains_.find({type, level});
  if (found == domains_.end()) return {};
  return found->second;
}

Occupancy::Occupancy(const model::Valuation& valuation, std::span<const MachineId> machines,
                     const model::CouplingLimits* limits)
    : valuation_(&valuation),
      room_(valuation.instance().cluster, machines),
      index_(valuation.instance().cluster, machines),
      limit_usage_(valuation.instance(), limits),
      occupants_(machines.size()),
      by_quota_(limit_usage_.limits() == nullptr ? 0 : limit_usage_.limits()->of_queues()) {}

void Occupancy::add(JobPlacement placement) {
  model::take(room_, valuation_->instance().workload, placement);
  record(std::move(placement));
}

void Occupancy::record(JobPlacement placement) {
  const JobId job = placement.job;
  const model::Workload& workload = valuation_->instance().workload;
  const model::Job& record = workload.job(job);
  const double value = valuation_->placed(placement);
  const model::Precedence precedence =
      model::precedence(workload, job, model::value_density(workload, record, value));
  for (const auto& task : placement.tasks) {
    auto& occupants = occupants_[room_.slot(task.machine)];
    const std::int64_t milli = std::int64_t{task.milli} * std::popcount(task.devices);
    const auto known = std::ranges::find(occupants, job, &Occupant::job);
    if (known != occupants.end()) {
      known->milli += milli;
      continue;
    }
    const Occupant occupant{precedence.density, job, value, milli, !record.required, precedence};
    occupants.insert(std::ranges::lower_bound(occupants, occupant, std::less<>{}), occupant);
  }
  const double unpriced_value = valuation_->unpriced_value(placement);
  limit_usage_.add(placement);
  for (const std::uint32_t q : limit_usage_.quotas_of(job)) {
    if (!record.required) by_quota_[q].insert(precedence);
  }
  const bool fresh =
      jobs_.emplace(job, PlacedJob{std::move(placement), value, unpriced_value}).second;
  BERTH_ASSERT(fresh);
}

model::Precedence Occupancy::precedence_of(JobId job) const {
  const model::Workload& workload = valuation_->instance().workload;
  return model::precedence(workload, job,
                           model::value_density(workload, workload.job(job), value_of(job)));
}

JobPlacement Occupancy::remove(JobId job) {
  const auto found = jobs_.find(job);
  BERTH_EXPECT(found != jobs_.end());
  const model::Precedence precedence = precedence_of(job);
  for (const std::uint32_t q : limit_usage_.quotas_of(job)) by_quota_[q].erase(precedence);
  JobPlacement placement = std::move(found->second.placement);
  const model::Workload& workload = valuation_->instance().workload;
  limit_usage_.remove(placement);
  jobs_.erase(found);
  model::release(room_, workload, placement);
  for (const auto& task : placement.tasks) {
    std::erase_if(occupants_[room_.slot(task.machine)],
                  [&](const Occupant& r) { return r.job == job; });
  }
  return placement;
}

void Occupancy::replace(model::Placement placed) {
  for (const auto& [job, placed_job] : jobs_) limit_usage_.remove(placed_job.placement);
  jobs_.clear();
  for (auto& occupants : occupants_) occupants.clear();
  for (EvictionOrder& jobs : by_quota_) jobs.clear();
  for (JobPlacement& p : placed) record(std::move(p));
}

double Occupancy::value() const {
  double total = 0.0;
  for (const auto& [job, placed_job] : jobs_) total += placed_job.unpriced_value;
  return total;
}

model::Placement Occupancy::placement() const {
  model::Placement all;
  all.reserve(jobs_.size());
  for (const auto& [job, placed_job] : jobs_) all.push_back(placed_job.placement);
  return all;
}

std::vector<JobId> Occupancy::jobs() const {
  std::vector<JobId> all;
  for (const auto& [job, placed_job] : jobs_) all.push_back(job);
  return all;
}

}  // namespace berth::solver
