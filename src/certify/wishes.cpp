// SPDX-License-Identifier: Apache-2.0
#include "wishes.hpp"

#include "exact.hpp"
#include "quotas.hpp"
#include "worth.hpp"

#include <algorithm>

namespace berth::certify {

using model::Job;
using model::Level;

namespace {

bool more(const Wish& a, const Wish& b) {
  return a.profit != b.profit ? a.profit > b.profit : a.job < b.job;
}

/// Some machine of the type has room for each of the job's GPU tasks.
bool tasks_fit(const model::Workload& workload, const Kinds& kinds, const Job& job,
               GpuTypeId type) {
  return std::ranges::all_of(workload.groups_of(job), [&](const model::TaskGroup& g) {
    const model::Shape& s = workload.shapes[g.shape.index()];
    return s.gpus == 0 || std::ranges::any_of(kinds.all(), [&](const Kind& k) {
             return k.type == type && s.gpus <= k.whole && s.cpu_milli <= k.cpu_milli &&
                    s.memory_mib <= k.memory_mib;
           });
  });
}

}  // namespace

Wishes::Wishes(const model::Instance& instance, model::Objective objective,
               const model::Certificate& certificate, const Kinds& kinds, GpuTypeId type)
    : instance_(&instance),
      type_(type),
      scale_(certificate.scale_log2),
      near_(instance.workload.jobs.size()),
      pod_(instance.cluster.pods.size()),
      rack_(instance.cluster.racks.size()),
      pod_wide_(instance.cluster.pods.size()) {
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const Kind& kind = kinds[KindId(k)];
    if (kind.type != type || !kinds.present(KindId(k))) continue;
    largest_machine_ = std::max(largest_machine_, kind.whole);
  }
  const Quotas quotas(instance, objective);
  const Tolls tolls(instance, certificate);
  for (const auto& listed : certificate.jobs) {
    const Job& job = instance.workload.jobs[listed.job.index()];
    if (((job.gpu_types >> type.value()) & 1) == 0 ||
        !tasks_fit(instance.workload, kinds, job, type))
      continue;
    if (!quotas.allow(job)) continue;
    add(job, listed.price + tolls.of(job), static_cast<std::uint32_t>(listed.job.index()),
        objective);
  }
  for (BySize* all : {&far_, &far_wide_, &widest_}) {
    for (auto& [size, jobs] : *all) std::ranges::sort(jobs, more);
  }
}

/// Worth by place: the most beyond being left out at the widths that the place allows, less the
/// price. Elsewhere than now a running job loses its move cost.
void Wishes::add(const Job& job, Int128 price, std::uint32_t index, model::Objective objective) {
  const std::int64_t gpus = milli_of(instance_->workload, job) / 1000;
  std::int64_t tasks = 0;
  for (const model::TaskGroup& g : instance_->workload.groups_of(job)) tasks += g.count;
  const JobWorth worth(*instance_, objective, job);
  const Int128 base = fixed_down(worth.stop_cost(), scale_) - price;
  const auto gain = [&](Level least, Level most, Level distance) {
    if (tasks > 1) most = std::min(most, job.domain);
    Int128 best = 0;
    for (int w = static_cast<int>(least); w <= static_cast<int>(most); ++w) {
      const double value = worth.at(type_, static_cast<Level>(w), distance);
      best = std::max(best, fixed_up(value, scale_) - fixed_down(worth.move_cost(), scale_) + base);
    }
    return best;
  };
  const auto keep = [&](Int128 profit, std::vector<Wish>& to) {
    if (profit > 0) to.push_back({profit, gpus, index});
  };
  const bool one_machine = tasks == 1 || gpus <= largest_machine_;
  const Level least = one_machine ? Level::machine : Level::rack;
  const Level most = tasks == 1 ? Level::machine : Level::rack;
  const RackId rack = job.home_rack;
  const PodId pod = rack.valid() ? instance_->cluster.racks[rack.index()].pod : job.home_pod;
  const Level away = pod.valid() ? Level::cluster : Level::machine;
  const Stay stay = staying(index, worth);
  near_[index] = {pod, stay.rack, stay.pod};
  keep(gain(least, most, away), far_[gpus]);
  if (pod.valid()) keep(gain(least, most, Level::pod), pod_[pod.index()]);
  if (rack.valid() && rack != stay.rack) {
    keep(gain(least, most, Level::rack), rack_[rack.index()]);
  }
  if (stay.rack.valid()) {
    keep(std::max(stay.worth + base, gain(least, most, stay.distance)), rack_[stay.rack.index()]);
  }
  if (tasks == 1) return;
  keep(gain(Level::pod, Level::pod, away), far_wide_[gpus]);
  if (pod.valid() && pod != stay.pod) {
    keep(gain(Level::pod, Level::pod, Level::pod), pod_wide_[pod.index()]);
  }
  if (stay.pod.valid()) {
    keep(std::max(stay.worth + base, gain(Level::pod, Level::pod, stay.distance)),
         pod_wide_[stay.pod.index()]);
  }
  const Int128 spread = gain(Level::cluster, Level::cluster, away);
  keep(stay.over_pods ? std::max(stay.worth + base, spread) : spread, widest_[gpus]);
}

Wishes::Stay Wishes::staying(std::uint32_t index, const JobWorth& worth) const {
  const auto now = present(instance_->workload, JobId(std::size_t{index}));
  if (!now) return {};
  const Reach r = reach(*instance_, *now);
  if (r.type != type_) return {};
  Stay stay{.rack = {},
            .pod = {},
            .distance = r.distance,
            .over_pods = r.width == Level::cluster,
            .worth = fixed_up(worth.at(r.type, r.width, r.distance), scale_)};
  const RackId rack = instance_->cluster.machine_rack[now->tasks.front().machine.index()];
  if (r.width <= Level::rack) stay.rack = rack;
  if (r.width == Level::pod) stay.pod = instance_->cluster.racks[rack.index()].pod;
  return stay;
}

/// Of each size the most profitable jobs, as many as fit. Those that are not `elsewhere` come from
/// `near`.
template <class Elsewhere>
std::vector<Wish> Wishes::chosen(BySize near, const BySize& far, std::int64_t gpus,
                                 const Elsewhere& elsewhere) const {
  for (const auto& [size, jobs] : far) {
    if (size > gpus) break;
    std::int64_t left = gpus / size;
    std::vector<Wish>& all = near[size];
    for (auto w = jobs.begin(); w != jobs.end() && left > 0; ++w) {
      if (!elsewhere(near_[w->job])) continue;
      all.push_back(*w);
      --left;
    }
  }
  std::vector<Wish> result;
  for (auto& [size, jobs] : near) {
    std::ranges::sort(jobs, more);
    const auto fit = std::min(jobs.size(), static_cast<std::size_t>(gpus / size));
    result.insert(result.end(), jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(fit));
  }
  return result;
}

std::vector<Wish> Wishes::in_rack(RackId rack, std::int64_t gpus) const {
  BySize near;
  const PodId pod = instance_->cluster.racks[rack.index()].pod;
  for (const Wish& w : rack_[rack.index()]) near[w.gpus].push_back(w);
  for (const Wish& w : pod_[pod.index()]) {
    if (instance_->workload.jobs[w.job].home_rack == rack || near_[w.job].stays == rack) continue;
    near[w.gpus].push_back(w);
  }
  return chosen(std::move(near), far_, gpus,
                [&](const Near& n) { return n.home != pod && n.stays != rack; });
}

std::vector<Wish> Wishes::over_racks(PodId pod, std::int64_t gpus) const {
  BySize near;
  for (const Wish& w : pod_wide_[pod.index()]) near[w.gpus].push_back(w);
  return chosen(std::move(near), far_wide_, gpus,
                [&](const Near& n) { return n.home != pod && n.stays_over != pod; });
}

std::vector<Wish> Wishes::over_pods(std::int64_t gpus) const {
  return chosen({}, widest_, gpus, [](const Near&) { return true; });
}

}  // namespace berth::certify
