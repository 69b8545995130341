// SPDX-License-Identifier: Apache-2.0
#include "whole_job_choice.hpp"

#include "exact.hpp"
#include "nested_knapsack.hpp"

#include <cstdint>
#include <vector>

namespace berth::certify {

Int128 chosen_in_cluster(const Pricing& pricing, const model::Certificate& certificate,
                         std::span<const JobChoice> choices) {
  const auto& queues = pricing.instance.cluster.queues;
  std::vector<CapacityNode> nodes{
      {.capacity = pricing.price_table.free_milli(), .price = certificate.whole_jobs.gpu_milli}};
  std::vector<std::int32_t> node_of(queues.size(), 0);  // the node that holds a queue's jobs
  for (std::size_t q = 0; q < queues.size(); ++q) {
    const std::int32_t above = queues[q].parent.valid() ? node_of[queues[q].parent.index()] : 0;
    const auto& room = pricing.quotas.room(QueueId(q));
    node_of[q] = room ? static_cast<std::int32_t>(nodes.size()) : above;
    if (!room) continue;
    nodes.push_back({.parent = above,
                     .capacity = *room,
                     .price = pricing.price_table.quota_prices().own(QueueId(q))});
    if (queues[q].hard()) continue;
    nodes.back().penalty = fixed_down(queues[q].over_quota_penalty, pricing.scale_log2);
  }
  std::vector<ChoiceItem> items;
  items.reserve(choices.size());
  for (const JobChoice& job : choices) {
    const std::int32_t node = job.queue.valid() ? node_of[job.queue.index()] : 0;
    items.push_back({job.net, job.milli, node, job.must});
  }
  return nested_knapsack_bound(nodes, items);
}

Int128 chosen_at_home(const Pricing& pricing, std::span<const JobChoice> choices) {
  std::vector<std::vector<ChoiceItem>> items(pricing.instance.cluster.racks.size());
  for (const JobChoice& job : choices) {
    items[job.home.index()].push_back({.net = job.net, .milli = job.milli, .must = job.must});
  }
  Int128 total = 0;
  for (std::size_t r = 0; r < items.size(); ++r) {
    if (items[r].empty()) continue;
    CapacityNode rack;
    for (const PricedPool& pool : pricing.price_table.in_rack(RackId(r))) {
      rack.capacity += pricing.price_table.variants()[pool.variant].free_milli() * pool.machines;
    }
    total += nested_knapsack_bound(std::span(&rack, 1), items[r]);
  }
  return total;
}

}  // namespace berth::certify
