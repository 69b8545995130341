// SPDX-License-Identifier: Apache-2.0
#include "wishes.hpp"

#include "exact.hpp"
#include "worth.hpp"

#include <algorithm>
#include <optional>

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
      home_(instance.workload.jobs.size()),
      pod_(instance.cluster.pods.size()),
      rack_(instance.cluster.racks.size()),
      pod_wide_(instance.cluster.pods.size()) {
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const Kind& kind = kinds[KindId(k)];
    if (kind.type != type || !kinds.present(KindId(k))) continue;
    largest_machine_ = std::max(largest_machine_, kind.whole);
  }
  for (const auto& listed : certificate.jobs) {
    const Job& job = instance.workload.jobs[listed.job.index()];
    if (((job.gpu_types >> type.value()) & 1) == 0 ||
        !tasks_fit(instance.workload, kinds, job, type))
      continue;
    add(job, listed.price, static_cast<std::uint32_t>(listed.job.index()), objective);
  }
  for (BySize* all : {&far_, &far_wide_, &widest_}) {
    for (auto& [size, jobs] : *all) std::ranges::sort(jobs, more);
  }
}

/// Worth by place: u at every width that the place allows, the best of them, less the price.
void Wishes::add(const Job& job, Int128 price, std::uint32_t index, model::Objective objective) {
  const std::int64_t gpus = milli_of(instance_->workload, job) / 1000;
  std::int64_t tasks = 0;
  for (const model::TaskGroup& g : instance_->workload.groups_of(job)) tasks += g.count;
  const JobWorth worth(*instance_, objective, job);
  const auto wish = [&](Level least, Level most, Level distance) -> std::optional<Wish> {
    if (tasks > 1) most = std::min(most, job.domain);
    Int128 best = 0;
    for (int w = static_cast<int>(least); w <= static_cast<int>(most); ++w) {
      const double value = worth.at(type_, static_cast<Level>(w), distance);
      best = std::max(best, fixed_up(value, scale_) - price);
    }
    return best > 0 ? std::optional(Wish{best, gpus, index}) : std::nullopt;
  };
  const auto keep = [](std::optional<Wish> w, std::vector<Wish>& to) {
    if (w) to.push_back(*w);
  };
  const bool one_machine = tasks == 1 || gpus <= largest_machine_;
  const Level least = one_machine ? Level::machine : Level::rack;
  const Level most = tasks == 1 ? Level::machine : Level::rack;
  const RackId rack = job.home_rack;
  const PodId pod = rack.valid() ? instance_->cluster.racks[rack.index()].pod : job.home_pod;
  const Level away = pod.valid() ? Level::cluster : Level::machine;
  home_[index] = pod;
  keep(wish(least, most, away), far_[gpus]);
  if (rack.valid()) keep(wish(least, most, Level::rack), rack_[rack.index()]);
  if (pod.valid()) keep(wish(least, most, Level::pod), pod_[pod.index()]);
  if (tasks == 1) return;
  keep(wish(Level::pod, Level::pod, away), far_wide_[gpus]);
  keep(wish(Level::cluster, Level::cluster, away), widest_[gpus]);
  if (pod.valid()) keep(wish(Level::pod, Level::pod, Level::pod), pod_wide_[pod.index()]);
}

/// Of each size the most profitable jobs, as many as fit. Those at home in the pod come from
/// `near`.
std::vector<Wish> Wishes::chosen(BySize near, const BySize& far, PodId pod,
                                 std::int64_t gpus) const {
  for (const auto& [size, jobs] : far) {
    if (size > gpus) break;
    std::int64_t left = gpus / size;
    std::vector<Wish>& all = near[size];
    for (auto w = jobs.begin(); w != jobs.end() && left > 0; ++w) {
      if (pod.valid() && home_[w->job] == pod) continue;
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
    if (instance_->workload.jobs[w.job].home_rack != rack) near[w.gpus].push_back(w);
  }
  return chosen(std::move(near), far_, pod, gpus);
}

std::vector<Wish> Wishes::over_racks(PodId pod, std::int64_t gpus) const {
  BySize near;
  for (const Wish& w : pod_wide_[pod.index()]) near[w.gpus].push_back(w);
  return chosen(std::move(near), far_wide_, pod, gpus);
}

std::vector<Wish> Wishes::over_pods(std::int64_t gpus) const {
  return chosen({}, widest_, {}, gpus);
}

}  // namespace berth::certify
