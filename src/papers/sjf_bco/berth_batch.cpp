// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/sjf_bco/berth_batch.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/base/random.hpp"

namespace berth::papers {
namespace {

/// What the search changes.
struct BatchList {
  std::vector<std::size_t> order;
  std::vector<char> together;  ///< by job: waits for one server, when one can hold it
};

using Gpus = std::vector<std::uint32_t>;

void append_idle(const BatchClock& clock, std::size_t server, std::size_t most, Gpus& gpus) {
  for (std::size_t g = clock.first_gpu(server); g < clock.first_gpu(server + 1) && most > 0; ++g) {
    if (!clock.gpus()[g].idle) continue;
    gpus.push_back(static_cast<std::uint32_t>(g));
    --most;
  }
}

/// GPUs of the server that the job fills best; empty: none has room.
Gpus on_one_server(const BatchClock& clock, std::int32_t wanted) {
  std::size_t best = clock.servers();
  for (std::size_t s = 0; s < clock.servers(); ++s) {
    if (clock.idle(s) < wanted) continue;
    if (best == clock.servers() || clock.idle(s) < clock.idle(best)) best = s;
  }
  Gpus gpus;
  if (best < clock.servers()) append_idle(clock, best, static_cast<std::size_t>(wanted), gpus);
  return gpus;
}

/// GPUs of the fewest servers; empty: too few are idle. The last server is the one filled best.
Gpus on_fewest_servers(const BatchClock& clock, std::int32_t wanted) {
  std::vector<std::size_t> order(clock.servers());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t s) { return clock.idle(s); });
  Gpus gpus;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int32_t left = wanted - static_cast<std::int32_t>(gpus.size());
    std::size_t server = order[i];
    if (clock.idle(server) >= left) {
      for (std::size_t k = i; k < order.size() && clock.idle(order[k]) >= left; ++k)
        server = order[k];
      append_idle(clock, server, static_cast<std::size_t>(left), gpus);
      return gpus;
    }
    append_idle(clock, server, static_cast<std::size_t>(clock.idle(server)), gpus);
  }
  return {};
}

RingSchedule run_list(const RingBatch& batch, const BatchList& list) {
  BatchClock clock(batch);
  const std::int32_t largest = std::ranges::max(batch.servers);
  std::vector<std::size_t> waiting = list.order;
  do {
    std::erase_if(waiting, [&](std::size_t job) {
      const std::int32_t wanted = batch.jobs[job].gpus;
      Gpus gpus = on_one_server(clock, wanted);
      const bool waits = list.together[job] != 0 && wanted <= largest;
      if (gpus.empty() && !waits) gpus = on_fewest_servers(clock, wanted);
      if (gpus.empty()) return false;
      clock.start(job, gpus);
      return true;
    });
  } while (clock.advance());
  BERTH_ENSURE(waiting.empty());
  return clock.schedule();
}

/// Lists of jobs by size, the largest first.
std::vector<BatchList> first_lists(const RingBatch& batch) {
  std::vector<BatchList> lists;
  const auto add = [&](const auto& size) {
    std::vector<std::size_t> order(batch.jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::size_t j) { return size(batch.jobs[j]); });
    for (const char together : {char{0}, char{1}})
      lists.push_back({order, std::vector<char>(batch.jobs.size(), together)});
  };
  add([](const RingBatchJob& job) { return job.estimate; });
  add([](const RingBatchJob& job) { return job.gpus * job.estimate; });
  add([](const RingBatchJob& job) { return std::pair(job.gpus, job.estimate); });
  return lists;
}

/// One random change: a job goes to an earlier place, or changes whether it waits for one server.
/// Half of them change the job that ends last.
BatchList changed(const BatchList& list, const RingSchedule& met, std::uint64_t seed,
                  std::uint64_t round) {
  BatchList next = list;
  const std::uint64_t n = list.order.size();
  std::size_t at = random_below(n, {seed, round, 0});
  if (random_below(2, {seed, round, 1}) == 0) {
    const auto last =
        std::ranges::max_element(list.order, {}, [&](std::size_t j) { return met.runs[j].end; });
    at = static_cast<std::size_t>(last - list.order.begin());
  }
  if (random_below(4, {seed, round, 2}) == 0) {
    next.together[list.order[at]] ^= 1;
    return next;
  }
  const auto to = static_cast<std::ptrdiff_t>(random_below(at + 1, {seed, round, 3}));
  const auto from = next.order.begin() + static_cast<std::ptrdiff_t>(at);
  std::rotate(next.order.begin() + to, from, from + 1);
  return next;
}

}  // namespace

RingSchedule berth_batch(const RingBatch& batch, const BerthBatchOptions& options) {
  if (batch.jobs.empty()) return {.runs = {}, .complete = true};
  BatchList list;
  RingSchedule best;
  for (BatchList& first : first_lists(batch)) {
    RingSchedule met = run_list(batch, first);
    if (!list.order.empty() && met.makespan >= best.makespan) continue;
    list = std::move(first);
    best = std::move(met);
  }
  const std::int64_t bound = makespan_bound(batch);
  for (std::int32_t round = 0; round < options.rounds && best.makespan > bound; ++round) {
    BatchList next = changed(list, best, options.seed, static_cast<std::uint64_t>(round));
    RingSchedule met = run_list(batch, next);
    if (met.makespan > best.makespan) continue;  // equal ones too: plateaus are wide
    list = std::move(next);
    best = std::move(met);
  }
  return best;
}

}  // namespace berth::papers
