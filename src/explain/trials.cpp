// SPDX-License-Identifier: Apache-2.0
#include "trials.hpp"

#include <utility>
#include <vector>

#include "berth/base/assert.hpp"

namespace berth::explain {
namespace {

std::vector<MachineId> all_machines(const model::Cluster& cluster) {
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < cluster.machines(); ++m) machines.emplace_back(m);
  return machines;
}

}  // namespace

Trials::Trials(model::Instance instance, model::Objective objective, model::Placement placement)
    : instance_(std::move(instance)),
      valuation_(model::InstanceView(instance_), objective),
      limits_(model::InstanceView(instance_), objective),
      occupancy_(valuation_, all_machines(instance_.cluster), &limits_),
      counts_(occupancy_),
      rooms_(occupancy_, &counts_),
      maker_(occupancy_, &counts_) {
  for (std::size_t l = 0; l < limits_.size(); ++l) {
    occupancy_.limit_usage().allow(l, limits_.capacity(l));
  }
  std::vector<JobId> jobs;
  for (std::size_t j = 0; j < instance_.workload.jobs.size(); ++j) jobs.emplace_back(j);
  occupancy_.admit(jobs);
  occupancy_.take(std::move(placement));
  for (const solver::JobEntry& entry : occupancy_.entries()) value_ += entry.value;
}

std::optional<model::JobPlacement> Trials::find_room(JobId job, const Edit& edit) {
  const JobId variant = add(job, edit);
  auto placement = rooms_.find(variant);
  remove(variant);
  return placement;
}

std::optional<model::JobPlacement> Trials::find_room(JobId job,
                                                     const planner_model::LimitAmount& allowed) {
  const std::int64_t before = occupancy_.limit_usage().allowance(allowed.first);
  occupancy_.limit_usage().allow(allowed.first, allowed.second);
  auto placement = find_room(job, [](model::Job&, model::TaskGroup&) {});
  occupancy_.limit_usage().allow(allowed.first, before);
  return placement;
}

std::optional<solver::MadeRoom> Trials::make_room(JobId job, const Edit& edit) {
  const JobId variant = add(job, edit);
  auto made = maker_.make(variant);
  remove(variant);
  return made;
}

JobId Trials::add(JobId job, const Edit& edit) {
  model::Workload& workload = instance_.workload;
  model::Job record = workload.job(job);
  const auto groups = workload.groups_of(record);
  std::vector<model::TaskGroup> copies(groups.begin(), groups.end());
  record.running = -1;
  edit(record, copies.front());
  record.first_group = static_cast<std::uint32_t>(workload.groups.size());
  workload.groups.insert(workload.groups.end(), copies.begin(), copies.end());
  workload.jobs.push_back(record);
  const JobId variant(workload.jobs.size() - 1);
  occupancy_.admit(variant);
  return variant;
}

void Trials::remove(JobId variant) {
  model::Workload& workload = instance_.workload;
  BERTH_EXPECT(variant.index() + 1 == workload.jobs.size());
  occupancy_.forget(variant);
  workload.groups.resize(workload.jobs.back().first_group);
  workload.jobs.pop_back();
}

}  // namespace berth::explain
