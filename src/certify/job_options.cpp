// SPDX-License-Identifier: Apache-2.0
#include "job_options.hpp"

#include "exact.hpp"
#include "job_value.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace berth::certify {

using model::InstanceView;
using model::Job;
using model::Level;

namespace {

/// @param net  of the best option of this kind so far
void offer(Int128 gross, Int128 cost, JobBest& best, std::optional<Int128>& net) {
  best.gross = best.gross ? std::max(*best.gross, gross) : gross;
  net = net ? std::max(*net, gross - cost) : gross - cost;
}

/// Narrowest domain in which rules allow all tasks.
Level narrowest_of(const model::PlacementRules& rules, std::int64_t tasks) {
  Level narrowest = Level::machine;
  for (const Level level : {Level::machine, Level::rack, Level::pod}) {
    const auto l = static_cast<std::size_t>(level);
    if (tasks > rules.max_tasks[l] || rules.min_domains[l] > 1)
      narrowest = Level{static_cast<std::uint8_t>(l + 1)};
  }
  return narrowest;
}

bool integral(double value) { return value == std::floor(value); }

}  // namespace

/// Region that a distance allows: the whole cluster, a pod or a rack, and its largest width.
struct JobOptions::HomeRegion {
  Level distance = {};
  Level widest = {};
  PodId pod = {};    ///< valid: this pod
  RackId rack = {};  ///< valid: this rack
};

/// The regions of a job; at most one for each distance.
struct JobOptions::HomeRegions {
  std::array<HomeRegion, 3> all = {};
  std::size_t count = 0;
  [[nodiscard]] std::span<const HomeRegion> list() const { return std::span(all).first(count); }
};

JobOptions::HomeRegions JobOptions::regions(const InstanceView& instance, const Job& job) {
  const HomeRegion cluster{Level::cluster, Level::cluster, {}, {}};
  if (job.home_rack.valid()) {
    const PodId pod = instance.cluster.racks[job.home_rack.index()].pod;
    return {{{cluster,
              {Level::pod, Level::pod, pod, {}},
              {Level::rack, Level::rack, {}, job.home_rack}}},
            3};
  }
  if (job.home_pod.valid()) return {{{cluster, {Level::pod, Level::pod, job.home_pod, {}}}}, 2};
  return {{{{Level::machine, Level::cluster, {}, {}}}}, 1};
}

/// A job, its value, and the best option found so far.
struct JobOptions::OptionSearch {
  const Job& job;
  JobValue worth;
  HomeRegions regions;
  Level widest;
  Int128 quota_price;  ///< of its queue
  Int128 shift = 0;    ///< stop cost saved less move cost paid
  JobBest best = {};
  std::optional<StayOption> stay = {};
};

JobOptions::JobOptions(const Pricing& pricing, const Job& like)
    : pricing_(&pricing),
      costs_(pricing.instance, pricing.price_table, like),
      milli_(milli_of(pricing.instance.workload, like)),
      narrowest_(narrowest_of(pricing.instance.workload.rules_of(like),
                              pricing.instance.workload.tasks(like))),
      one_task_(pricing.instance.workload.tasks(like) == 1) {}

JobOptions::Best JobOptions::best(const Job& job) {
  OptionSearch search{.job = job,
                      .worth = JobValue(pricing_->instance, pricing_->objective, job, milli_),
                      .regions = regions(pricing_->instance, job),
                      .widest = one_task_ ? Level::machine : job.domain,
                      .quota_price = pricing_->price_table.quota_prices().of(job)};
  if (!pricing_->quotas.allow(job)) {
    integral_ = integral_ && certify::integral(search.worth.stop_cost());
    return {};
  }
  std::optional<Int128> staying;
  if (job.running >= 0) {
    stay(search);
    staying = std::exchange(search.best.net, std::nullopt);
    search.shift = fixed_down(search.worth.stop_cost(), pricing_->scale_log2) -
                   fixed_down(search.worth.move_cost(), pricing_->scale_log2);
  }
  if (milli_ == 0) on_type(search, GpuTypeId{});
  for (const GpuTypeId type : pricing_->types) {
    if (milli_ > 0 && ((job.gpu_types >> type.value()) & 1) != 0) on_type(search, type);
  }
  std::optional<Int128>& net = search.best.net;
  if (search.stay) search.stay->elsewhere = net;
  if (search.best.home) search.stay.reset();  // its choice counts on the best of all others
  if (staying) net = net ? std::max(*net, *staying) : staying;
  return {search.best, std::move(search.stay)};
}

/// Evaluates all regions and widths on one type, the wide ones first: a narrower option of no more
/// value costs no less, so it can be skipped.
void JobOptions::on_type(OptionSearch& search, GpuTypeId type) {
  std::array<double, model::kLevels> wider{};  // by width: largest value of a wider option
  wider.fill(-std::numeric_limits<double>::infinity());
  const std::optional<Int128> as_gang = pricing_->gangs.least_cost(search.job, search.worth, type);
  for (const HomeRegion& region : search.regions.list()) {
    const bool at_home = region.rack.valid() && milli_ > 0 && pricing_->whole_jobs.in_home_racks();
    std::optional<Int128>& net = at_home ? search.best.home : search.best.net;
    const int narrowest = static_cast<int>(narrowest_);
    for (int w = static_cast<int>(std::min(search.widest, region.widest)); w >= narrowest; --w) {
      const auto width = static_cast<std::size_t>(w);
      const double value = search.worth.at(type, static_cast<Level>(w), region.distance);
      integral_ = integral_ && certify::integral(value);
      if (value <= wider[width]) continue;
      if (costs_.pays_uplinks() && w >= static_cast<int>(Level::pod)) {
        wider[width] = value;  // narrower options save uplinks
      } else {
        std::fill_n(wider.begin(), width + 1, value);
      }
      const Int128 gross = fixed_up(value, pricing_->scale_log2) + search.shift;
      if (net && gross <= *net) continue;
      Int128 cost = cost_of(region, type, static_cast<Level>(w));
      if (as_gang && w == static_cast<int>(Level::rack) && cost < kImpossible) cost = *as_gang;
      if (cost < kImpossible) offer(gross, cost + search.quota_price, search.best, net);
    }
  }
}

/// Evaluates the job's present place: it saves the move cost, and pays for exactly that place.
void JobOptions::stay(OptionSearch& search) {
  const Job& job = search.job;
  const JobValue& worth = search.worth;
  for (const double cost : {worth.stop_cost(), worth.move_cost()}) {
    integral_ = integral_ && certify::integral(cost);
  }
  if (worth.move_cost() == 0.0) return;  // no option of its own
  const model::WorkloadView& workload = pricing_->instance.workload;
  const auto now = present(workload, workload.running_of(job)->job);
  if (!may_stay(pricing_->instance.cluster, *now)) return;
  const PlacementExtent r = extent_of(pricing_->instance, *now);
  const auto groups = workload.groups_of(job);
  const ByLimitKind paid = pricing_->price_table.place_limits().paid(job, now->tasks);
  Int128 cost = search.quota_price + sum_of(paid);
  if (workload.rules_of(job).exclusive) {
    for (const MachineId m : machines_of(now->tasks)) cost += pricing_->price_table.at(m).worth;
  } else {
    for (const model::TaskPlacement& t : now->tasks) {
      const PricedPool& pool = pricing_->price_table.at(t.machine);
      cost += pricing_->price_table.task(pool, groups[t.group].shape);
    }
  }
  const Int128 earns = fixed_up(worth.at(r.type, r.width, r.distance), pricing_->scale_log2) +
                       fixed_down(worth.stop_cost(), pricing_->scale_log2);
  offer(earns, cost, search.best, search.best.net);
  if (!pricing_->stays_on_machines || workload.rules_of(job).exclusive) return;
  if (milli_ == 0 || !is_countable(workload, job)) return;
  search.stay = StayOption{.index = 0,
                           .elsewhere = {},
                           .earns = earns - search.quota_price - sum_of(paid),
                           .tasks = items_of(job, *now)};
}

/// The tasks on each machine of the job's present place.
std::vector<StayItem> JobOptions::items_of(const Job& job, const model::JobPlacement& now) const {
  const auto groups = pricing_->instance.workload.groups_of(job);
  std::vector<model::TaskPlacement> tasks = now.tasks;
  std::ranges::sort(tasks, {}, &model::TaskPlacement::machine);
  std::vector<StayItem> items;
  for (const model::TaskPlacement& t : tasks) {
    if (items.empty() || items.back().machine != t.machine)
      items.push_back({.machine = t.machine, .job = now.job});
    const ShapeId shape = groups[t.group].shape;
    const model::Shape& s = pricing_->instance.workload.shape(shape);
    StayItem& item = items.back();
    item.devices += s.gpus;
    for (std::size_t r = 0; r < model::kResources; ++r) item.needs[r] += s.needs[r];
    item.task_prices += pricing_->price_table.task(pricing_->price_table.at(t.machine), shape);
  }
  return items;
}

Int128 JobOptions::cost_of(const HomeRegion& region, GpuTypeId type, Level width) {
  if (region.rack.valid()) return costs_.in_rack(type, width, region.rack);
  if (region.pod.valid()) return costs_.in_pod(type, width, region.pod);
  return costs_.anywhere(type, width);
}

}  // namespace berth::certify
