// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ring_world.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "berth/papers/sjf_bco/ring_batch.hpp"

namespace berth::papers {

using Gpus = std::vector<std::uint32_t>;

/// Jobs of the micro-cases of the paper's model: 10 Gbit, iterations of 10 ms of computation.
class RingCase {
 public:
  RingCase(std::vector<std::int32_t> servers, const std::vector<std::int32_t>& gpus,
           std::int64_t iterations, double external = 1000.0, double overhead = 0.0005,
           double contention = 1.0) {
    batch.servers = std::move(servers);
    cluster_ = bench::one_rack(batch.servers);
    for (const std::int32_t g : gpus) {
      batch.jobs.push_back({.gpus = g, .iterations = iterations, .estimate = 10.0});
      rings_.push_back({.gradient_gbit = 10.0,
                        .forward_per_sample = 0.004,
                        .backward = 0.006,
                        .batch = 1.0,
                        .reduce_gbps = 1e5,
                        .reference = static_cast<double>(g)});
    }
    const speed::RingOptions options{.internal_gbps = 1e4,
                                     .external_gbps = external,
                                     .degradation = 0.2,
                                     .contention = contention,
                                     .seconds_per_machine = overhead};
    model_ = std::make_unique<speed::RingModel>(cluster_, rings_, options, none_);
    batch.speeds = model_.get();
  }

  RingBatch batch;

 private:
  class NoOthers final : public speed::Model {
   public:
    [[nodiscard]] bool coupled() const override { return false; }
    void rates(std::span<const speed::RunningJob> /*running*/,
               std::span<speed::Rate> /*rates*/) const override {}
  };

  model::Cluster cluster_;
  std::vector<speed::RingJob> rings_;
  NoOthers none_;
  std::unique_ptr<speed::RingModel> model_;
};

inline std::vector<std::size_t> submission(const RingBatch& batch) {
  std::vector<std::size_t> order(batch.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// The least makespan by exhaustion: at each end any subset of jobs starts on any GPUs, or none.
class Exhaustive {
 public:
  explicit Exhaustive(const RingBatch& batch) : batch_(batch) {}

  std::int64_t best() {
    std::vector<std::size_t> waiting = submission(batch_);
    visit(BatchClock(batch_), waiting, 0);
    return best_;
  }

 private:
  /// Jobs from `next` on may still start now.
  void visit(const BatchClock& clock, const std::vector<std::size_t>& waiting, std::size_t next) {
    if (clock.now() >= best_) return;
    if (next == waiting.size()) {
      BatchClock later = clock;
      if (!later.advance()) {
        if (waiting.empty()) best_ = std::min(best_, later.now());
        return;
      }
      visit(later, waiting, 0);
      return;
    }
    visit(clock, waiting, next + 1);
    choose(clock, waiting, next, 0, {});
  }

  void choose(const BatchClock& clock, const std::vector<std::size_t>& waiting, std::size_t next,
              std::uint32_t from, Gpus chosen) {
    if (std::cmp_equal(chosen.size(), batch_.jobs[waiting[next]].gpus)) {
      BatchClock started = clock;
      started.start(waiting[next], chosen);
      std::vector<std::size_t> left = waiting;
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
      visit(started, left, next);
      return;
    }
    for (std::uint32_t g = from; g < clock.gpus().size(); ++g) {
      if (!clock.gpus()[g].idle) continue;
      Gpus more = chosen;
      more.push_back(g);
      choose(clock, waiting, next, g + 1, std::move(more));
    }
  }

  const RingBatch& batch_;
  std::int64_t best_ = 1 << 30;
};

}  // namespace berth::papers
