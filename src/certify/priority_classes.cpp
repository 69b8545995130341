// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/priority_classes.hpp"

#include "exact.hpp"
#include "job_value.hpp"
#include "quota_capacities.hpp"
#include "spare_gpus.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::certify {
namespace {

using model::InstanceView;
using model::Job;

/// floor(x 2^bits).
Int128 shifted_down(Int128 x, int bits) {
  return bits >= 0 ? x * (Int128{1} << bits) : x >> std::min(-bits, 126);
}

}  // namespace

ClassSums& ClassSums::operator+=(const ClassSums& others) {
  placed += others.placed;
  required += others.required;
  jobs_total += others.jobs_total;
  return *this;
}

void add(const ClassTable& others, ClassTable& table) {
  for (const auto& [priority, more] : others) table[priority] += more;
}

void add_jobs(const InstanceView& instance, model::Objective kind, std::span<const JobId> jobs,
              ClassTable& table) {
  for (const JobId id : jobs) {
    const Job& job = instance.workload.job(id);
    if (instance.workload.pinned(job)) continue;
    ClassSums& sums = table[job.priority];
    ++sums.jobs_total;
    sums.placed.gain -=
        fixed_up(JobValue(instance, kind, job).stop_cost(), ObjectiveValue::kScaleLog2);
  }
}

void add_placed(const InstanceView& instance, model::Objective kind,
                const model::Placement& placement, ClassTable& table) {
  std::map<std::pair<std::int32_t, bool>, model::Placement> by_class;  // and required
  for (const model::JobPlacement& placed : placement) {
    const Job& job = instance.workload.job(placed.job);
    by_class[{job.priority, job.required}].push_back(placed);
  }
  for (const auto& [key, placed] : by_class) {
    ClassSums& sums = table[key.first];
    (key.second ? sums.required : sums.placed) += placement_sums(instance, kind, placed);
  }
}

std::vector<std::int32_t> priorities_of(const ClassTable& table) {
  std::vector<std::int32_t> priorities;
  for (const auto& [priority, sums] : table) priorities.push_back(priority);
  return priorities;
}

std::vector<ObjectiveValue> class_values(const InstanceView& instance, model::Objective kind,
                                         const ClassTable& table) {
  constexpr int kScale = ObjectiveValue::kScaleLog2;
  const QuotaCapacities capacities(instance, kind);
  PlacementSums used;  // of required jobs and of the classes so far
  used.quotas.resize(instance.cluster.queues.size(), 0);
  for (const auto& [priority, sums] : table) used += sums.required;
  std::vector<ObjectiveValue> values;
  Int128 paid = 0;  // penalties of the classes so far
  for (const auto& [priority, sums] : table) {
    used += sums.placed;
    Int128 penalty = capacities.penalty(used.quotas, kScale);
    if (model::traits(kind).costs) penalty += spare_penalty(instance.cluster, used.spare, kScale);
    ObjectiveValue& value = values.emplace_back();
    value.exact = sums.placed.gain + sums.required.gain - (penalty - std::exchange(paid, penalty));
    value.value = std::ldexp(static_cast<double>(value.exact), -kScale);
  }
  return values;
}

std::vector<model::PriorityWeight> class_weights(std::span<const std::int32_t> priorities,
                                                 std::span<const std::int32_t> weights_log2) {
  std::vector<model::PriorityWeight> weights;
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    const bool above = i < weights_log2.size(), own = i == weights_log2.size();
    weights.push_back({.priority = priorities[i],
                       .weight = above ? std::ldexp(1.0, weights_log2[i])
                                 : own ? 1.0
                                       : 0.0});
  }
  return weights;
}

std::string unusable_weights(const InstanceView& instance, model::Objective kind,
                             std::span<const std::int32_t> weights_log2) {
  const bool soft_quota = std::ranges::any_of(
      instance.cluster.queues,
      [](const model::Queue& queue) { return queue.gpu_quota >= 0 && !queue.hard(); });
  const bool soft = model::traits(kind).costs && (soft_quota || !instance.cluster.spare.empty());
  for (const std::int32_t weight : weights_log2) {
    if (std::abs(weight) > kMostWeightLog2) {
      return "weights_log2 has " + std::to_string(weight) + ", beyond -" +
             std::to_string(kMostWeightLog2) + " .. " + std::to_string(kMostWeightLog2);
    }
    if (soft && weight < 0) return "weights_log2 is negative, but there are soft limits";
  }
  return {};
}

std::vector<JobId> jobs_of_class(const model::WorkloadView& workload, std::span<const JobId> jobs,
                                 std::int32_t priority) {
  std::vector<JobId> counted(jobs.begin(), jobs.end());
  std::erase_if(counted, [&](JobId id) {
    const Job& job = workload.job(id);
    return job.priority < priority && !job.required;
  });
  return counted;
}

double class_bound(const Bound& weighted, std::span<const ObjectiveValue> values,
                   std::span<const std::int32_t> weights_log2) {
  Int128 kept = 0;
  for (std::size_t i = 0; i < weights_log2.size(); ++i) {
    kept += shifted_down(values[i].exact,
                         weights_log2[i] + weighted.scale_log2 - ObjectiveValue::kScaleLog2);
  }
  return double_up(weighted.exact - kept, weighted.scale_log2);
}

}  // namespace berth::certify
