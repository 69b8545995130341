// SPDX-License-Identifier: Apache-2.0
#include "slurm/priority_classes.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace berth::io::slurm {
namespace {

using TierAndQos = std::pair<std::int64_t, std::string>;

TierAndQos tier_and_qos(const SlurmJob& job, const std::map<std::string, std::int64_t>& tiers) {
  std::int64_t tier = 0;
  for (const std::string& name : job.partitions) {
    const auto known = tiers.find(name);
    if (known != tiers.end()) tier = std::max(tier, known->second);
  }
  return {tier, job.qos};
}

/// Jobs of equal priority are in one class; it may be larger than its share then.
std::vector<std::int32_t> quantiles(const std::vector<PendingJob>& jobs, std::int32_t most) {
  std::vector<std::int64_t> sorted;
  for (const PendingJob& w : jobs) sorted.push_back(w.job.priority);
  std::ranges::sort(sorted);
  std::vector<std::int32_t> classes;
  for (const PendingJob& w : jobs) {
    const auto below = std::ranges::lower_bound(sorted, w.job.priority) - sorted.begin();
    classes.push_back(static_cast<std::int32_t>(below * most / std::ssize(sorted)));
  }
  return classes;
}

}  // namespace

std::vector<std::int32_t> priority_classes(const std::vector<PendingJob>& jobs,
                                           const std::vector<Partition>& partitions,
                                           std::int32_t most) {
  std::map<std::string, std::int64_t> tiers;
  for (const Partition& p : partitions) tiers[p.name] = p.tier;
  std::map<TierAndQos, std::int64_t> highest;  // priority of a job
  for (const PendingJob& w : jobs) {
    std::int64_t& seen = highest[tier_and_qos(w.job, tiers)];
    seen = std::max(seen, w.job.priority);
  }
  if (highest.size() < 2 || std::ssize(highest) > most) return quantiles(jobs, most);
  std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> order;
  for (const auto& [key, priority] : highest) order.emplace_back(key.first, priority, key.second);
  std::ranges::sort(order);
  std::map<TierAndQos, std::int32_t> class_of;
  for (const auto& [tier, priority, qos] : order) {
    class_of.emplace(TierAndQos{tier, qos}, static_cast<std::int32_t>(class_of.size()));
  }
  std::vector<std::int32_t> classes;
  for (const PendingJob& w : jobs) classes.push_back(class_of.at(tier_and_qos(w.job, tiers)));
  return classes;
}

}  // namespace berth::io::slurm
