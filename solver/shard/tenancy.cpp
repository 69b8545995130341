// SPDX-License-Identifier: Apache-2.0
#include "shard/tenancy.hpp"

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

Tenancy::Tenancy(const model::Valuation& valuation, std::span<const MachineId> machines,
                 const model::Limits* limits)
    : valuation_(&valuation),
      room_(valuation.instance().cluster, machines),
      index_(valuation.instance().cluster, machines),
      ledger_(valuation.instance(), limits),
      on_(machines.size()),
      of_quota_(ledger_.limits() == nullptr ? 0 : ledger_.limits()->quota_count()) {}

void Tenancy::add(JobPlacement placement) {
  model::take(room_, valuation_->instance().workload, placement);
  adopt(std::move(placement));
}

void Tenancy::adopt(JobPlacement placement) {
  const JobId job = placement.job;
  const model::Workload& workload = valuation_->instance().workload;
  const model::Job& record = workload.job(job);
  const double value = valuation_->placed(placement);
  const auto total = std::max<std::int64_t>(1, workload.gpu_milli(record));
  for (const auto& task : placement.tasks) {
    auto& residents = on_[room_.slot(task.machine)];
    const std::int64_t milli = std::int64_t{task.milli} * std::popcount(task.devices);
    const auto known = std::ranges::find(residents, job, &Resident::job);
    if (known != residents.end()) {
      known->milli += milli;
      continue;
    }
    const Resident resident{value / static_cast<double>(total), job, value, milli,
                            !record.required};
    residents.insert(std::ranges::lower_bound(residents, resident, std::less<>{}), resident);
  }
  const double face = valuation_->face(placement);
  ledger_.add(placement);
  for (const std::uint32_t q : ledger_.quotas_of(job)) {
    if (!record.required) of_quota_[q].emplace(value / static_cast<double>(total), job);
  }
  const bool fresh = jobs_.emplace(job, Tenant{std::move(placement), value, face}).second;
  BERTH_ASSERT(fresh);
}

JobPlacement Tenancy::remove(JobId job) {
  const auto found = jobs_.find(job);
  BERTH_EXPECT(found != jobs_.end());
  JobPlacement placement = std::move(found->second.placement);
  const model::Workload& workload = valuation_->instance().workload;
  const auto total = std::max<std::int64_t>(1, workload.gpu_milli(workload.job(job)));
  for (const std::uint32_t q : ledger_.quotas_of(job)) {
    of_quota_[q].erase({found->second.value / static_cast<double>(total), job});
  }
  ledger_.remove(placement);
  jobs_.erase(found);
  model::release(room_, workload, placement);
  for (const auto& task : placement.tasks) {
    std::erase_if(on_[room_.slot(task.machine)], [&](const Resident& r) { return r.job == job; });
  }
  return placement;
}

void Tenancy::replace(model::Placement placed) {
  for (const auto& [job, tenant] : jobs_) ledger_.remove(tenant.placement);
  jobs_.clear();
  for (auto& residents : on_) residents.clear();
  for (ByDensity& jobs : of_quota_) jobs.clear();
  for (JobPlacement& p : placed) adopt(std::move(p));
}

double Tenancy::value() const {
  double total = 0.0;
  for (const auto& [job, tenant] : jobs_) total += tenant.face;
  return total;
}

model::Placement Tenancy::placement() const {
  model::Placement all;
  all.reserve(jobs_.size());
  for (const auto& [job, tenant] : jobs_) all.push_back(tenant.placement);
  return all;
}

std::vector<JobId> Tenancy::jobs() const {
  std::vector<JobId> all;
  for (const auto& [job, tenant] : jobs_) all.push_back(job);
  return all;
}

}  // namespace berth::solver
