// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "berth/base/assert.hpp"
#include "berth/papers/berth_elastic.hpp"
#include "berth/papers/ones_schedule.hpp"

namespace berth::papers {
namespace {

/// GPUs by owner, and how many of a job or free each machine has.
class Workers {
 public:
  Workers(std::span<const Gpu> line, std::vector<std::int32_t> owner)
      : line_(line), owner_(std::move(owner)) {
    for (const Gpu& gpu : line_) machines_ = std::max(machines_, gpu.machine.index() + 1);
  }

  std::vector<std::int32_t> take() { return std::move(owner_); }

  [[nodiscard]] std::vector<std::int32_t> on_machines(std::int32_t job) const {
    std::vector<std::int32_t> count(machines_);
    for (std::size_t i = 0; i < line_.size(); ++i) {
      if (owner_[i] == job) ++count[line_[i].machine.index()];
    }
    return count;
  }
  /// Gives so many GPUs of the machine from one owner to another, as many as it has.
  std::int32_t give(std::size_t machine, std::int32_t from, std::int32_t to, std::int32_t most) {
    std::int32_t given = 0;
    for (std::size_t i = 0; i < line_.size() && given < most; ++i) {
      if (line_[i].machine.index() != machine || owner_[i] != from) continue;
      owner_[i] = to;
      ++given;
    }
    return given;
  }

  void shrink(std::int32_t job, std::int32_t by) {
    const auto mine = on_machines(job);
    std::vector<std::size_t> order(machines_);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t m) { return mine[m]; });
    for (const std::size_t m : order) by -= give(m, job, kFreeGpu, by);
    BERTH_ENSURE(by == 0);
  }

  void grow(std::int32_t job, std::int32_t by) {
    const auto mine = on_machines(job);
    std::vector<std::size_t> order(machines_);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t m) { return mine[m]; });
    for (const std::size_t m : order) {
      if (mine[m] > 0) by -= give(m, kFreeGpu, job, by);
    }
    while (by > 0) {
      const std::int32_t given = give(roomy(by), kFreeGpu, job, by);
      BERTH_ENSURE(given > 0);
      by -= given;
    }
  }

 private:
  /// The machine with the least room for so many, else the one with most.
  [[nodiscard]] std::size_t roomy(std::int32_t gpus) const {
    const auto free = on_machines(kFreeGpu);
    std::size_t best = 0;
    for (std::size_t m = 1; m < free.size(); ++m) {
      const bool holds = free[m] >= gpus, held = free[best] >= gpus;
      if (holds != held ? holds : (holds ? free[m] < free[best] : free[m] > free[best])) best = m;
    }
    return best;
  }

  std::span<const Gpu> line_;
  std::vector<std::int32_t> owner_;
  std::size_t machines_ = 0;
};

}  // namespace

std::vector<std::int32_t> place_workers(std::span<const Gpu> line, std::vector<std::int32_t> owner,
                                        std::span<const std::int32_t> counts) {
  const auto held = gpus_by_job(owner, counts.size());
  Workers workers(line, std::move(owner));
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t j) { return counts[j]; });
  for (const std::size_t j : order) {
    if (counts[j] < held[j]) workers.shrink(static_cast<std::int32_t>(j), held[j] - counts[j]);
  }
  for (const std::size_t j : order) {
    if (counts[j] > held[j]) workers.grow(static_cast<std::int32_t>(j), counts[j] - held[j]);
  }
  return workers.take();
}

}  // namespace berth::papers
