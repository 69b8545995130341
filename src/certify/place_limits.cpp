// SPDX-License-Identifier: Apache-2.0
#include "place_limits.hpp"

#include "exact.hpp"
#include "limit_prices.hpp"
#include "spare_gpus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace berth::certify {

using model::CommunicationPattern;
using model::Job;
using model::LimitKind;
using model::TaskPlacement;

namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// Tasks of a job behind one uplink.
struct Behind {
  std::int64_t workers = 0, servers = 0;
};

/// Traffic over the uplinks of all racks, or all pods, that hold tasks.
template <class Add>
void add_loads(const model::Communication& communication,
               const std::map<std::size_t, Behind>& places, const Behind& all, const Add& add) {
  if (places.size() < 2) return;
  for (const auto& [link, b] : places) {
    if (communication.pattern == CommunicationPattern::ring) {
      add(link, communication.mbps);
      continue;
    }
    const Int128 pairs =
        Int128{b.workers} * (all.servers - b.servers) + Int128{all.workers - b.workers} * b.servers;
    const Int128 mbps =
        times_over_up(communication.mbps, pairs, std::max<std::int64_t>(1, all.servers));
    add(link, static_cast<std::int64_t>(std::min<Int128>(mbps, kUnlimited)));
  }
}

}  // namespace

std::int64_t ring_of(const Job& job) {
  return job.communication.pattern == CommunicationPattern::ring ? job.communication.mbps : 0;
}

PlaceLimits::PlaceLimits(const model::InstanceView& instance, const model::Certificate& certificate)
    : instance_(instance), racks_(instance.cluster.racks.size()), least_uplink_(kUnlimited) {
  for (std::size_t k = 0; k < model::kLimitKinds; ++k) {
    if (model::kLimitRows[k].of_rack != nullptr) add_limits(static_cast<LimitKind>(k));
  }
  add_spare();
  const auto use_up = [&](std::size_t limit, Int128 amount) {
    auto& left = capacity_[limit];
    if (left) *left = static_cast<std::int64_t>(std::max<Int128>(0, *left - amount));
  };
  const model::WorkloadView& workload = instance.workload;
  for (const model::Running& running : workload.tables().running) {
    if (!running.pinned) continue;
    std::vector<JobLimitUse> traffic;
    add_traffic(workload.job(running.job), workload.tasks_of(running), traffic);
    for (const JobLimitUse& use : traffic) use_up(use.limit, use.amount);
  }
  for (const model::Immovable& content : instance.cluster.immovable) {  // pinned jobs among it
    const RackId rack = instance.cluster.machine_rack[content.machine.index()];
    model::for_each_limited_resource([&](LimitKind kind, std::size_t resource) {
      use_up(of(kind, rack), content.taken[resource]);
      use_up(of(kind, instance.cluster.racks[rack.index()].pod), content.taken[resource]);
    });
  }
  for (std::size_t l = 0; l < capacity_.size(); ++l) {
    if (kind_[l] != LimitKind::uplink) continue;
    least_uplink_ = std::min(least_uplink_, capacity_[l].value_or(kUnlimited));
  }
  price_.assign(capacity_.size(), 0);
  for (const auto& l : certificate.limits) {
    if (l.scope.queue.valid()) continue;
    if (l.kind == LimitKind::spare) {
      const model::Spare* spare = instance.cluster.spare_of(l.scope.pod, l.scope.gpu_type);
      price_[of_spare(static_cast<std::size_t>(spare - instance.cluster.spare.data()))] = l.price;
      continue;
    }
    uplinks_priced_ = uplinks_priced_ || l.kind == LimitKind::uplink;
    price_[l.scope.rack.valid() ? of(l.kind, l.scope.rack) : of(l.kind, l.scope.pod)] = l.price;
  }
}

void PlaceLimits::add_limits(LimitKind kind) {
  first_[index_of(kind)] = capacity_.size();
  const auto add = [&](const model::LimitScope& scope) {
    kind_.push_back(kind);
    scope_.push_back(scope);
    capacity_.push_back(limit_of(instance_.cluster, kind, scope));
  };
  for (std::size_t r = 0; r < racks_; ++r) add({.rack = RackId(r)});
  for (std::size_t p = 0; p < instance_.cluster.pods.size(); ++p) add({.pod = PodId(p)});
}

void PlaceLimits::add_spare() {
  first_[index_of(LimitKind::spare)] = capacity_.size();
  const std::vector<std::int64_t> rooms = rooms_beside_spare(instance_.cluster);
  for (std::size_t s = 0; s < rooms.size(); ++s) {
    const model::Spare& spare = instance_.cluster.spare[s];
    kind_.push_back(LimitKind::spare);
    scope_.push_back({.pod = spare.pod, .gpu_type = spare.gpu_type});
    capacity_.emplace_back(rooms[s]);
  }
}

std::vector<PlaceLimits::JobLimitUse> PlaceLimits::uses(
    const Job& job, std::span<const TaskPlacement> tasks) const {
  std::vector<JobLimitUse> uses;
  add_traffic(job, tasks, uses);
  std::map<std::size_t, Int128> needs;
  const auto groups = instance_.workload.groups_of(job);
  model::for_each_limited_resource([&](LimitKind kind, std::size_t resource) {
    for (const TaskPlacement& t : tasks) {
      const RackId rack = instance_.cluster.machine_rack[t.machine.index()];
      const Int128 amount = instance_.workload.shape(groups[t.group].shape).needs[resource];
      if (amount == 0) continue;
      needs[of(kind, rack)] += amount;
      needs[of(kind, instance_.cluster.racks[rack.index()].pod)] += amount;
    }
  });
  for (const TaskPlacement& t : tasks) {
    if (const auto use = use_beside_spare(instance_.cluster, t)) {
      needs[of_spare(use->row)] += use->milli;
    }
  }
  for (const auto& [limit, amount] : needs) uses.push_back({limit, amount});
  return uses;
}

/// Adds the job's traffic over uplinks; none within one rack.
void PlaceLimits::add_traffic(const Job& job, std::span<const TaskPlacement> tasks,
                              std::vector<JobLimitUse>& uses) const {
  const model::Communication& communication = job.communication;
  if (communication.pattern == CommunicationPattern::none || communication.mbps == 0) return;
  const model::Cluster& cluster = instance_.cluster;
  std::map<std::size_t, Behind> racks, pods;
  Behind all;
  for (const TaskPlacement& t : tasks) {
    const RackId rack = cluster.machine_rack[t.machine.index()];
    const PodId pod = cluster.racks[rack.index()].pod;
    const bool server =
        communication.pattern == CommunicationPattern::ps && t.group == communication.servers;
    for (Behind* b :
         {&racks[of(LimitKind::uplink, rack)], &pods[of(LimitKind::uplink, pod)], &all}) {
      ++(server ? b->servers : b->workers);
    }
  }
  const auto add = [&](std::size_t limit, std::int64_t mbps) { uses.push_back({limit, mbps}); };
  add_loads(communication, racks, all, add);
  add_loads(communication, pods, all, add);
}

ByLimitKind PlaceLimits::paid(const Job& job, std::span<const TaskPlacement> tasks) const {
  ByLimitKind paid{};
  for (const JobLimitUse& use : uses(job, tasks)) {
    paid[index_of(kind_[use.limit])] += price_[use.limit] * use.amount;
  }
  return paid;
}

ByLimitKind PlaceLimits::capacity_value() const {
  ByLimitKind value{};
  for (std::size_t l = 0; l < price_.size(); ++l) {
    if (price_[l] > 0) value[index_of(kind_[l])] += Int128{price_[l]} * capacity_[l].value();
  }
  return value;
}

void PlaceLimits::add(const model::Placement& placement, LimitAmounts& used) const {
  used.resize(capacity_.size(), 0);
  for (const model::JobPlacement& p : placement) {
    for (const JobLimitUse& use : uses(instance_.workload.job(p.job), p.tasks)) {
      used[use.limit] += use.amount;
    }
  }
}

void PlaceLimits::report(const LimitAmounts& used, Findings& findings) const {
  for (std::size_t l = 0; l < used.size(); ++l) {
    if (!capacity_[l] || used[l] <= *capacity_[l] || kind_[l] == LimitKind::spare) continue;
    findings.add(
        FaultKind::limit_exceeded,
        describe(instance_.cluster, kind_[l], scope_[l]) + ": jobs use " +
            std::to_string(static_cast<std::int64_t>(std::min<Int128>(used[l], kUnlimited))) +
            " of " + std::to_string(*capacity_[l]) + " " + std::string(row_of(kind_[l]).unit) +
            " beside content that no plan moves");
  }
}

}  // namespace berth::certify
