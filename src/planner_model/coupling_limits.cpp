// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/coupling_limits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "berth/base/int128.hpp"

namespace berth::planner_model {
namespace {

std::int64_t whole_amount(double limit, double units) {
  return std::isinf(limit) ? model::kNoLimit : static_cast<std::int64_t>(std::floor(limit * units));
}

/// More than any limit on a resource allows; sums stop there.
constexpr std::int64_t kMostOfResource = std::int64_t{1} << 50;

/// What all tasks of the job need.
std::int64_t needs_of(const model::WorkloadView& workload, const model::Job& job,
                      std::size_t resource) {
  std::int64_t sum = 0;
  for (const model::TaskGroup& g : workload.groups_of(job)) {
    sum = std::min(kMostOfResource, sum + g.count * workload.shape(g.shape).needs[resource]);
  }
  return sum;
}

/// Sorted by limit, the amounts of one limit added up.
void merge_equal_limits(std::vector<LimitAmount>& amounts) {
  std::ranges::sort(amounts);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (kept > 0 && amounts[kept - 1].first == amounts[i].first) {
      amounts[kept - 1].second =
          std::min(kMostOfResource, amounts[kept - 1].second + amounts[i].second);
    } else {
      amounts[kept++] = amounts[i];
    }
  }
  amounts.resize(kept);
}

/// Numbers of tasks of a job inside one domain.
struct Inside {
  std::int64_t workers = 0;
  std::int64_t servers = 0;
};

}  // namespace

LargestLimits::LargestLimits(const model::Cluster& cluster) {
  const auto raise = [](ByKind& most, const auto& domain) {
    for_each_limit(domain, [&](const model::LimitRow& row, double limit) {
      std::int64_t& largest = most[static_cast<std::size_t>(&row - model::kLimitRows.data())];
      largest = std::max(largest, whole_amount(limit, row.units));
    });
  };
  for (const model::Rack& rack : cluster.racks) raise(of_racks_, rack);
  for (const model::Pod& pod : cluster.pods) raise(of_pods_, pod);
}

bool LargestLimits::allow(const model::WorkloadView& workload, const model::Job& job,
                          model::Level width) const {
  bool enough = true;  // for all tasks inside
  model::for_each_limited_resource([&](model::LimitKind kind, std::size_t resource) {
    const std::int64_t needs = needs_of(workload, job, resource);
    enough = enough && (width > model::Level::rack || needs <= of_racks_[index_of(kind)]) &&
             (width > model::Level::pod || needs <= of_pods_[index_of(kind)]);
  });
  if (!enough) return false;
  if (job.communication.pattern != model::CommunicationPattern::ring) return true;
  const std::size_t uplink = index_of(model::LimitKind::uplink);
  const std::int64_t mbps = job.communication.mbps;
  return (width <= model::Level::rack || mbps <= of_racks_[uplink]) &&
         (width <= model::Level::pod || mbps <= of_pods_[uplink]);
}

JobTraffic job_traffic_of(const model::WorkloadView& workload) {
  const bool some = std::ranges::any_of(workload.records().jobs, [](const model::Job& j) {
    return j.communication.pattern != model::CommunicationPattern::none;
  });
  return some ? JobTraffic::some : JobTraffic::none;
}

CouplingLimits::CouplingLimits(const model::InstanceView& instance, model::Objective objective,
                               JobTraffic traffic)
    : instance_(instance) {
  add_quotas(objective);
  queue_limits_ = size();
  first_.fill(std::numeric_limits<std::size_t>::max());
  if (traffic == JobTraffic::some) add_places(model::LimitKind::uplink);
  model::for_each_limited_resource([&](model::LimitKind kind, std::size_t) { add_places(kind); });
  add_licenses();
  if (!empty()) use_up_by_immovable_content();
  if (traits(objective).costs && !instance.cluster.spare.empty()) add_spare();
}

/// None when no job takes a license: then they do not couple shards.
void CouplingLimits::add_licenses() {
  const auto& rules = instance_.workload.tables().rules;
  if (std::ranges::all_of(rules, [](const auto& row) { return row.licenses.empty(); })) return;
  first_[index_of(model::LimitKind::license)] = size();
  const auto& licenses = instance_.cluster.licenses;
  for (std::size_t row = 0; row < licenses.size(); ++row) {
    limits_.push_back({.kind = model::LimitKind::license,
                       .license = static_cast<std::uint32_t>(row),
                       .capacity = licenses[row].count});
  }
}

void CouplingLimits::add_license_use(std::vector<LimitAmount>& amounts, JobId job) const {
  if (!has(model::LimitKind::license)) return;
  for (const model::LicenseUse& use :
       instance_.workload.rules_of(instance_.workload.job(job)).licenses) {
    amounts.emplace_back(at_license(use.license), use.count);
  }
}

/// What is left beside the spare GPUs and immovable content, on machines that are up.
void CouplingLimits::add_spare() {
  const model::Cluster& cluster = instance_.cluster;
  const std::size_t first = size();
  first_[index_of(model::LimitKind::spare)] = first;
  for (const model::Spare& spare : cluster.spare) {
    limits_.push_back({.kind = model::LimitKind::spare,
                       .scope = {.pod = spare.pod, .gpu_type = spare.gpu_type},
                       .capacity = -model::kGpuMilli * spare.gpus,
                       .penalty = spare.penalty});
  }
  const auto add = [&](MachineId machine, std::int64_t milli) {
    const model::Spare* spare =
        cluster.spare_of(cluster.pod_of(machine), cluster.class_of(machine).gpu_type);
    if (spare == nullptr || cluster.state_of(machine) != model::MachineState::up) return;
    limits_[first + static_cast<std::size_t>(spare - cluster.spare.data())].capacity += milli;
  };
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    add(MachineId(m), model::kGpuMilli * cluster.class_of(MachineId(m)).gpus);
  }
  for (const model::Immovable& content : cluster.immovable) {
    const std::int32_t slices = cluster.class_of(content.machine).gpu_slices;
    add(content.machine,
        -std::popcount(content.devices) * std::int64_t{model::share_taken(content.milli, slices)});
  }
  for (std::size_t l = first; l < size(); ++l) {
    limits_[l].capacity = std::max<std::int64_t>(0, limits_[l].capacity);
  }
}

void CouplingLimits::add_quotas(model::Objective objective) {
  const auto& queues = instance_.cluster.queues;
  for (std::size_t q = 0; q < queues.size(); ++q) {
    std::vector<std::uint32_t> chain;
    const model::Queue& queue = queues[q];
    const bool felt = queue.hard() || (queue.gpu_quota >= 0 && traits(objective).costs);
    if (felt) {
      chain.push_back(static_cast<std::uint32_t>(size()));
      limits_.push_back({.kind = model::LimitKind::gpu_quota,
                         .scope = {.queue = QueueId(q)},
                         .capacity = model::kGpuMilli * queue.gpu_quota,
                         .penalty = queue.over_quota_penalty});
    }
    if (queue.parent.valid()) {  // an earlier queue
      const auto& above = chain_[queue.parent.index()];
      chain.insert(chain.end(), above.begin(), above.end());
    }
    chain_.push_back(std::move(chain));
  }
}

void CouplingLimits::add_places(model::LimitKind kind) {
  const model::Cluster& cluster = instance_.cluster;
  const model::LimitRow& row = row_of(kind);
  const std::size_t first = size();
  for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
    limits_.push_back({.kind = kind,
                       .scope = {.rack = RackId(r)},
                       .capacity = whole_amount(cluster.racks[r].*row.of_rack, row.units)});
  }
  for (std::size_t p = 0; p < cluster.pods.size(); ++p) {
    limits_.push_back({.kind = kind,
                       .scope = {.pod = PodId(p)},
                       .capacity = whole_amount(cluster.pods[p].*row.of_pod, row.units)});
  }
  const auto none = [](const CouplingLimit& l) { return l.capacity == model::kNoLimit; };
  const auto added = limits_.begin() + static_cast<std::ptrdiff_t>(first);
  if (std::all_of(added, limits_.end(), none)) {
    limits_.erase(added, limits_.end());
  } else {
    first_[index_of(kind)] = first;
  }
}

/// Pinned jobs are part of the immovable content of their machines, but for quotas, traffic and
/// licenses.
void CouplingLimits::use_up_by_immovable_content() {
  const auto use_up = [&](std::size_t limit, std::int64_t amount) {
    if (limits_[limit].capacity != model::kNoLimit) limits_[limit].capacity -= amount;
  };
  for (const model::Running& running : instance_.workload.tables().running) {
    if (!running.pinned) continue;
    const model::Job& job = instance_.workload.job(running.job);
    for (const std::uint32_t l : of(job.queue)) use_up(l, instance_.workload.gpu_milli(job));
    std::vector<LimitAmount> used = traffic(running.job, instance_.workload.tasks_of(running));
    add_license_use(used, running.job);
    for (const auto& [l, amount] : used) use_up(l, amount);
  }
  for (const model::Immovable& content : instance_.cluster.immovable) {
    model::for_each_limited_resource([&](model::LimitKind kind, std::size_t resource) {
      if (!has(kind)) return;
      use_up(at(kind, instance_.cluster.machine_rack[content.machine.index()]),
             content.taken[resource]);
      use_up(at(kind, instance_.cluster.pod_of(content.machine)), content.taken[resource]);
    });
  }
  for (CouplingLimit& l : limits_) l.capacity = std::max<std::int64_t>(0, l.capacity);
}

std::span<const std::uint32_t> CouplingLimits::of(QueueId queue) const {
  if (!queue.valid()) return {};
  return chain_[queue.index()];
}

std::vector<double> CouplingLimits::by_queue(std::span<const double> prices) const {
  if (queue_limits_ == 0) return {};
  std::vector<double> sums;
  for (const auto& chain : chain_) {
    double sum = 0.0;
    for (const std::uint32_t l : chain) sum += prices[l];
    sums.push_back(sum);
  }
  return sums;
}

std::vector<LimitAmount> CouplingLimits::use_of_places(
    JobId job, std::span<const model::TaskPlacement> tasks) const {
  std::vector<LimitAmount> amounts = traffic(job, tasks);
  model::for_each_limited_resource([&](model::LimitKind kind, std::size_t resource) {
    if (has(kind)) add_needs(amounts, kind, resource, job, tasks);
  });
  add_license_use(amounts, job);
  if (first_spare() < size()) add_gpus_beside_spare(amounts, tasks);
  return amounts;
}

void CouplingLimits::add_gpus_beside_spare(std::vector<LimitAmount>& amounts,
                                           std::span<const model::TaskPlacement> tasks) const {
  const model::Cluster& cluster = instance_.cluster;
  std::vector<LimitAmount> used;
  for (const model::TaskPlacement& t : tasks) {
    if (t.devices == 0) continue;
    const model::Spare* spare =
        cluster.spare_of(cluster.pod_of(t.machine), cluster.class_of(t.machine).gpu_type);
    if (spare == nullptr) continue;
    used.emplace_back(first_spare() + static_cast<std::size_t>(spare - cluster.spare.data()),
                      std::popcount(t.devices) * std::int64_t{t.milli});
  }
  merge_equal_limits(used);
  amounts.insert(amounts.end(), used.begin(), used.end());
}

/// Racks, then pods.
void CouplingLimits::add_needs(std::vector<LimitAmount>& amounts, model::LimitKind kind,
                               std::size_t resource, JobId job,
                               std::span<const model::TaskPlacement> tasks) const {
  const model::Cluster& cluster = instance_.cluster;
  const model::WorkloadView& workload = instance_.workload;
  const auto groups = workload.groups_of(workload.job(job));
  std::vector<LimitAmount> needed;
  for (const model::TaskPlacement& t : tasks) {
    const std::int64_t needs = workload.shape(groups[t.group].shape).needs[resource];
    if (needs == 0) continue;
    needed.emplace_back(at(kind, cluster.machine_rack[t.machine.index()]), needs);
    needed.emplace_back(at(kind, cluster.pod_of(t.machine)), needs);
  }
  merge_equal_limits(needed);
  amounts.insert(amounts.end(), needed.begin(), needed.end());
}

std::vector<LimitAmount> CouplingLimits::traffic(
    JobId job, std::span<const model::TaskPlacement> tasks) const {
  std::vector<LimitAmount> amounts;
  const model::Communication& communication = instance_.workload.job(job).communication;
  if (has(model::LimitKind::uplink) && communication.pattern != model::CommunicationPattern::none) {
    add_traffic(amounts, communication, tasks, false);
    add_traffic(amounts, communication, tasks, true);
  }
  return amounts;
}

std::int64_t CouplingLimits::most_use(std::size_t limit, JobId id) const {
  const model::LimitKind kind = limits_[limit].kind;
  const model::Job& job = instance_.workload.job(id);
  if (kind == model::LimitKind::license) {
    std::vector<LimitAmount> used;
    add_license_use(used, id);
    const auto own = std::ranges::find(used, limit, &LimitAmount::first);
    return own == used.end() ? 0 : own->second;
  }
  if (kind == model::LimitKind::uplink && instance_.workload.tasks(job) > 1) {
    return job.communication.mbps;
  }
  if (kind == model::LimitKind::spare) return instance_.workload.gpu_milli(job);
  const std::size_t resource = row_of(kind).resource;
  return resource < model::kResources ? needs_of(instance_.workload, job, resource) : 0;
}

void CouplingLimits::add_traffic(std::vector<LimitAmount>& amounts,
                                 const model::Communication& communication,
                                 std::span<const model::TaskPlacement> tasks, bool pods) const {
  const model::Cluster& cluster = instance_.cluster;
  std::map<std::size_t, Inside> domains;
  Inside all;
  for (const model::TaskPlacement& t : tasks) {
    const RackId rack = cluster.machine_rack[t.machine.index()];
    Inside& here = domains[pods ? at(model::LimitKind::uplink, cluster.racks[rack.index()].pod)
                                : at(model::LimitKind::uplink, rack)];
    const bool server = communication.pattern == model::CommunicationPattern::ps &&
                        t.group == communication.servers;
    ++(server ? here.servers : here.workers);
    ++(server ? all.servers : all.workers);
  }
  if (domains.size() < 2) return;
  for (const auto& [limit, in] : domains) {
    if (communication.pattern == model::CommunicationPattern::ring) {
      amounts.emplace_back(limit, communication.mbps);
      continue;
    }
    const std::int64_t pairs =
        in.workers * (all.servers - in.servers) + (all.workers - in.workers) * in.servers;
    const Int128 sent = Int128{communication.mbps} * pairs;
    if (sent == 0) continue;
    // Mbit/s; more than any uplink with a limit carries, and sums of two fit in 63 bits
    constexpr Int128 kMost = Int128{1} << 61;
    const Int128 mbps = std::min(kMost, (sent + all.servers - 1) / all.servers);
    amounts.emplace_back(limit, static_cast<std::int64_t>(mbps));
  }
}

}  // namespace berth::planner_model
