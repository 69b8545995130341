// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/gadget/slot_rules.hpp"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::papers::gadget {
namespace {

/// @pre jobs have their budget left
std::int32_t fixed_workers(const SlotJob& job, std::span<const std::int32_t> workers) {
  const auto left = std::min<std::int64_t>(job.job->budget - job.done, workers[job.index]);
  return static_cast<std::int32_t>(left);
}

}  // namespace

RingSchedule run_slots(const RingInstance& instance, const SlotRule& rule) {
  check_instance(instance);
  RingSchedule schedule;
  std::vector<std::int64_t> done(instance.jobs.size(), 0);
  for (std::int32_t t = 0; t < instance.slots; ++t) {
    std::vector<SlotJob> jobs;
    for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
      const RingJob& job = instance.jobs[j];
      if (job.arrival <= t && done[j] < job.budget) jobs.push_back({&job, done[j], j});
    }
    std::vector<Ring> rings = rule({&instance, t, jobs});
    BERTH_ASSERT(rings.size() == jobs.size());
    schedule.emplace_back(instance.jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      done[jobs[i].index] += workers_of(rings[i]);
      schedule.back()[jobs[i].index] = std::move(rings[i]);
    }
  }
  return schedule;
}

std::vector<Ring> gadget_slot(const SlotView& view) {
  return slot_greedy(view.instance->cluster, view.jobs);
}

std::vector<Ring> drf_slot(const SlotView& view) {
  SlotEmbedding slot(view.instance->cluster, view.jobs);
  using Turn = std::tuple<std::int32_t, std::size_t>;  // workers, position
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (std::size_t j = 0; j < view.jobs.size(); ++j) turns.emplace(0, j);
  while (!turns.empty() && slot.free_gpus() > 0) {
    const auto [has, j] = turns.top();
    turns.pop();
    if (has < view.jobs[j].most() && slot.set(j, has + 1)) turns.emplace(has + 1, j);
  }
  return slot.take_rings();
}

SlotRule fifo_rule(std::vector<std::int32_t> workers) {
  return [workers = std::move(workers)](const SlotView& view) {
    std::vector<std::pair<std::int32_t, std::size_t>> order;
    for (std::size_t j = 0; j < view.jobs.size(); ++j)
      order.emplace_back(view.jobs[j].job->arrival, j);
    std::ranges::sort(order);
    SlotEmbedding slot(view.instance->cluster, view.jobs);
    for (const auto& [arrival, j] : order) {
      if (!slot.set(j, fixed_workers(view.jobs[j], workers))) break;
    }
    return slot.take_rings();
  };
}

SlotRule las_rule(std::vector<std::int32_t> workers) {
  return [workers = std::move(workers)](const SlotView& view) {
    std::vector<std::tuple<std::int64_t, std::int32_t, std::size_t>> order;
    for (std::size_t j = 0; j < view.jobs.size(); ++j)
      order.emplace_back(view.jobs[j].done, view.jobs[j].job->arrival, j);
    std::ranges::sort(order);
    SlotEmbedding slot(view.instance->cluster, view.jobs);
    for (const auto& [done, arrival, j] : order)
      (void)slot.set(j, fixed_workers(view.jobs[j], workers));
    return slot.take_rings();
  };
}

}  // namespace berth::papers::gadget
