// SPDX-License-Identifier: Apache-2.0
#include "profitable_jobs.hpp"

#include "exact.hpp"
#include "job_value.hpp"

#include <algorithm>

namespace berth::certify {

using model::Job;
using model::Level;

namespace {

bool more(const ProfitableJob& a, const ProfitableJob& b) {
  return a.profit != b.profit ? a.profit > b.profit : a.job < b.job;
}

/// Whether some machine of the type has room for each of the job's GPU tasks.
bool tasks_fit(const model::WorkloadView& workload, const MachineVariants& variants, const Job& job,
               GpuTypeId type) {
  return std::ranges::all_of(workload.groups_of(job), [&](const model::TaskGroup& g) {
    const model::Shape& s = workload.tables().shapes[g.shape.index()];
    return s.gpus == 0 || std::ranges::any_of(variants.all(), [&](const MachineVariant& k) {
             return k.type == type && s.gpus <= k.whole && s.needs.within(k.room);
           });
  });
}

}  // namespace

ProfitableJobs::ProfitableJobs(const Pricing& pricing, const SpotIndex& spots, const Leaf& leaf,
                               GpuTypeId type)
    : instance_(pricing.instance),
      type_(type),
      scale_(pricing.scale_log2),
      near_(instance_.workload.size()),
      pod_(instance_.cluster.pods.size()),
      rack_(instance_.cluster.racks.size()),
      pod_wide_(instance_.cluster.pods.size()) {
  const MachineVariants& variants = pricing.price_table.variants();
  for (std::size_t k = 0; k < variants.size(); ++k) {
    const MachineVariant& variant = variants[VariantId(k)];
    if (variant.type != type || !variants.present(VariantId(k))) continue;
    largest_machine_ = std::max(largest_machine_, variant.whole);
  }
  for (const auto& listed : leaf.prices) {
    const Job& job = instance_.workload.job(listed.job);
    if (((job.gpu_types >> type.value()) & 1) == 0 ||
        !tasks_fit(instance_.workload, variants, job, type))
      continue;
    if (!pricing.quotas.allow(job)) continue;
    const Int128 price = listed.price + pricing.price_table.quota_prices().of(job);
    const ProfitByPlace g =
        profits(static_cast<std::uint32_t>(listed.job.index()), price, pricing.objective);
    const auto confined =
        std::ranges::lower_bound(leaf.confined, listed.job, {}, &ConfinedJob::job);
    if (confined != leaf.confined.end() && confined->job == listed.job) {
      add_confined(g, spots, confined->spots);
    } else {
      add(g);
    }
  }
  for (BySize* all : {&far_, &far_wide_, &widest_}) {
    for (auto& [size, jobs] : *all) std::ranges::sort(jobs, more);
  }
}

/// Profit by place: the largest gain over being unplaced at the widths that the place allows, less
/// the price. Elsewhere than now a running job loses its move cost.
ProfitableJobs::ProfitByPlace ProfitableJobs::profits(std::uint32_t index, Int128 price,
                                                      model::Objective objective) const {
  const Job& job = instance_.workload.job(JobId(std::size_t{index}));
  const std::int64_t gpus = milli_of(instance_.workload, job) / 1000;
  std::int64_t tasks = 0;
  for (const model::TaskGroup& g : instance_.workload.groups_of(job)) tasks += g.count;
  const JobValue worth(instance_, objective, job);
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
  const bool one_machine = tasks == 1 || gpus <= largest_machine_;
  const Level least = one_machine ? Level::machine : Level::rack;
  const Level most = tasks == 1 ? Level::machine : Level::rack;
  ProfitByPlace g;
  g.job = index;
  g.gpus = gpus;
  g.wide = tasks > 1;
  g.rack = job.home_rack;
  g.pod = g.rack.valid() ? instance_.cluster.racks[g.rack.index()].pod : job.home_pod;
  g.stay = staying(index, worth);
  const Level away = g.pod.valid() ? Level::cluster : Level::machine;
  g.far = gain(least, most, away);
  g.in_pod = gain(least, most, Level::pod);
  g.in_rack = gain(least, most, Level::rack);
  g.staying = std::max(g.stay.worth + base, gain(least, most, g.stay.distance));
  g.far_wide = gain(Level::pod, Level::pod, away);
  g.pod_wide = gain(Level::pod, Level::pod, Level::pod);
  g.staying_wide = std::max(g.stay.worth + base, gain(Level::pod, Level::pod, g.stay.distance));
  g.over_pods = gain(Level::cluster, Level::cluster, away);
  if (g.stay.over_pods) g.over_pods = std::max(g.over_pods, g.stay.worth + base);
  return g;
}

void ProfitableJobs::keep(const ProfitByPlace& profits, Int128 profit,
                          std::vector<ProfitableJob>& to) const {
  if (profit > 0) to.push_back({profit, profits.gpus, profits.job});
}

void ProfitableJobs::add(const ProfitByPlace& g) {
  near_[g.job] = {g.pod, g.stay.rack, g.stay.pod};
  keep(g, g.far, far_[g.gpus]);
  if (g.pod.valid()) keep(g, g.in_pod, pod_[g.pod.index()]);
  if (g.rack.valid() && g.rack != g.stay.rack) keep(g, g.in_rack, rack_[g.rack.index()]);
  if (g.stay.rack.valid()) keep(g, g.staying, rack_[g.stay.rack.index()]);
  if (!g.wide) return;
  keep(g, g.far_wide, far_wide_[g.gpus]);
  if (g.pod.valid() && g.pod != g.stay.pod) keep(g, g.pod_wide, pod_wide_[g.pod.index()]);
  if (g.stay.pod.valid()) keep(g, g.staying_wide, pod_wide_[g.stay.pod.index()]);
  keep(g, g.over_pods, widest_[g.gpus]);
}

/// Adds a restricted job at each spot that the leaf allows.
void ProfitableJobs::add_confined(const ProfitByPlace& g, const SpotIndex& spots,
                                  const std::vector<bool>& allowed) {
  const model::Cluster& cluster = instance_.cluster;
  for (std::size_t r = 0; r < rack_.size(); ++r) {
    const RackId rack(r);
    if (!allowed[spots.in_rack(type_, rack)]) continue;
    const bool at_home = g.pod.valid() && cluster.racks[r].pod == g.pod;
    keep(g,
         rack == g.stay.rack ? g.staying
         : rack == g.rack    ? g.in_rack
         : at_home           ? g.in_pod
                             : g.far,
         rack_[r]);
  }
  if (!g.wide) return;
  for (std::size_t p = 0; p < pod_wide_.size(); ++p) {
    const PodId pod(p);
    if (!allowed[spots.over_racks(type_, pod)]) continue;
    keep(g,
         pod == g.stay.pod ? g.staying_wide
         : pod == g.pod    ? g.pod_wide
                           : g.far_wide,
         pod_wide_[p]);
  }
  if (allowed[spots.over_pods(type_)]) keep(g, g.over_pods, widest_[g.gpus]);
}

ProfitableJobs::CurrentPlace ProfitableJobs::staying(std::uint32_t index,
                                                     const JobValue& worth) const {
  const auto now = present(instance_.workload, JobId(std::size_t{index}));
  if (!now || !may_stay(instance_.cluster, *now)) return {};
  const PlacementExtent r = extent_of(instance_, *now);
  if (r.type != type_) return {};
  CurrentPlace stay{.rack = {},
                    .pod = {},
                    .distance = r.distance,
                    .over_pods = r.width == Level::cluster,
                    .worth = fixed_up(worth.at(r.type, r.width, r.distance), scale_)};
  const RackId rack = instance_.cluster.machine_rack[now->tasks.front().machine.index()];
  if (r.width <= Level::rack) stay.rack = rack;
  if (r.width == Level::pod) stay.pod = instance_.cluster.racks[rack.index()].pod;
  return stay;
}

/// The most profitable jobs of each size, as many as fit; those for which `elsewhere` is false are
/// taken from `near`.
template <class Elsewhere>
std::vector<ProfitableJob> ProfitableJobs::chosen(BySize near, const BySize& far, std::int64_t gpus,
                                                  const Elsewhere& elsewhere) const {
  for (const auto& [size, jobs] : far) {
    if (size > gpus) break;
    std::int64_t left = gpus / size;
    std::vector<ProfitableJob>& all = near[size];
    for (auto w = jobs.begin(); w != jobs.end() && left > 0; ++w) {
      if (!elsewhere(near_[w->job])) continue;
      all.push_back(*w);
      --left;
    }
  }
  std::vector<ProfitableJob> result;
  for (auto& [size, jobs] : near) {
    std::ranges::sort(jobs, more);
    const auto fit = std::min(jobs.size(), static_cast<std::size_t>(gpus / size));
    result.insert(result.end(), jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(fit));
  }
  return result;
}

std::vector<ProfitableJob> ProfitableJobs::in_rack(RackId rack, std::int64_t gpus) const {
  BySize near;
  const PodId pod = instance_.cluster.racks[rack.index()].pod;
  for (const ProfitableJob& w : rack_[rack.index()]) near[w.gpus].push_back(w);
  for (const ProfitableJob& w : pod_[pod.index()]) {
    if (instance_.workload.job(JobId(std::size_t{w.job})).home_rack == rack ||
        near_[w.job].stays == rack)
      continue;
    near[w.gpus].push_back(w);
  }
  return chosen(std::move(near), far_, gpus,
                [&](const NearHome& n) { return n.home != pod && n.stays != rack; });
}

std::vector<ProfitableJob> ProfitableJobs::over_racks(PodId pod, std::int64_t gpus) const {
  BySize near;
  for (const ProfitableJob& w : pod_wide_[pod.index()]) near[w.gpus].push_back(w);
  return chosen(std::move(near), far_wide_, gpus,
                [&](const NearHome& n) { return n.home != pod && n.stays_over != pod; });
}

std::vector<ProfitableJob> ProfitableJobs::over_pods(std::int64_t gpus) const {
  return chosen({}, widest_, gpus, [](const NearHome&) { return true; });
}

}  // namespace berth::certify
