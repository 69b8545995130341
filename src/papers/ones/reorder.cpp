// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <limits>

#include "berth/base/assert.hpp"
#include "berth/papers/ones_schedule.hpp"

namespace berth::papers {
namespace {

constexpr std::int32_t kNoPath = std::numeric_limits<std::int32_t>::max();

/// A job of the schedule, in the order of their first GPUs.
struct JobSpan {
  std::int32_t job = kFreeGpu;
  std::int32_t gpus = 0;
};

std::vector<JobSpan> spans_of(const OnesSchedule& schedule) {
  std::vector<JobSpan> spans;
  for (const std::int32_t job : schedule) {
    if (job == kFreeGpu) continue;
    const auto at = std::ranges::find(spans, job, &JobSpan::job);
    if (at == spans.end()) {
      spans.push_back({.job = job, .gpus = 1});
    } else {
      ++at->gpus;
    }
  }
  return spans;
}

/// Best paths that have placed k jobs on the first i GPUs.
class SpanOrder {
 public:
  SpanOrder(const std::vector<JobSpan>& spans, const OnesSchedule& current)
      : spans_(spans),
        current_(current),
        places_(current.size() + 1),
        words_((spans.size() + 63) / 64),
        cost_((spans.size() + 1) * places_, kNoPath),
        last_(cost_.size(), kFreeGpu),
        used_(cost_.size() * words_),
        free_(cost_.size()),
        replaced_(spans.size() * places_) {
    count_replaced();
    most_free_ = static_cast<std::int32_t>(current.size());
    for (const JobSpan& span : spans) most_free_ -= span.gpus;
    cost_[0] = 0;
    for (std::size_t i = 1; i < places_; ++i) leave_free(i);
    for (std::size_t k = 1; k <= spans_.size(); ++k) fill(k);
  }

  [[nodiscard]] bool found() const { return cost_.back() < kNoPath; }

  [[nodiscard]] OnesSchedule path() const {
    OnesSchedule schedule(current_.size(), kFreeGpu);
    std::size_t i = places_ - 1;
    for (std::size_t k = spans_.size(); k > 0;) {
      const std::int32_t last = last_[k * places_ + i];
      if (last == kFreeGpu) {
        --i;
        continue;
      }
      const JobSpan& span = spans_[static_cast<std::size_t>(last)];
      i -= static_cast<std::size_t>(span.gpus);
      std::fill_n(schedule.begin() + static_cast<std::ptrdiff_t>(i), span.gpus, span.job);
      --k;
    }
    return schedule;
  }

 private:
  /// By span: GPUs among the first i whose present job is another one.
  void count_replaced() {
    for (std::size_t j = 0; j < spans_.size(); ++j) {
      std::int32_t* count = &replaced_[j * places_];
      for (std::size_t i = 0; i < current_.size(); ++i)
        count[i + 1] = count[i] + (current_[i] != kFreeGpu && current_[i] != spans_[j].job ? 1 : 0);
    }
  }

  void fill(std::size_t k) {
    for (std::size_t i = 1; i < places_; ++i) {
      leave_free(k * places_ + i);
      for (std::size_t j = 0; j < spans_.size(); ++j) extend(j, k, i);
    }
  }

  /// GPU i - 1 stays free, if so many may: a path that leaves more has no room for all jobs.
  void leave_free(std::size_t state) {
    if (cost_[state - 1] == kNoPath || free_[state - 1] == most_free_) return;
    cost_[state] = cost_[state - 1];
    free_[state] = free_[state - 1] + 1;
    std::copy_n(&used_[(state - 1) * words_], words_, &used_[state * words_]);
  }

  /// Places span j last, so that it ends at GPU i.
  void extend(std::size_t j, std::size_t k, std::size_t i) {
    const auto gpus = static_cast<std::size_t>(spans_[j].gpus);
    if (gpus > i) return;
    const std::size_t before = (k - 1) * places_ + i - gpus;
    const std::uint64_t bit = std::uint64_t{1} << (j % 64);
    if (cost_[before] == kNoPath || (used_[before * words_ + j / 64] & bit) != 0) return;
    const std::int32_t* count = &replaced_[j * places_];
    const std::int32_t cost = cost_[before] + count[i] - count[i - gpus];
    const std::size_t state = k * places_ + i;
    if (cost >= cost_[state]) return;
    cost_[state] = cost;
    last_[state] = static_cast<std::int32_t>(j);
    free_[state] = free_[before];
    std::copy_n(&used_[before * words_], words_, &used_[state * words_]);
    used_[state * words_ + j / 64] |= bit;
  }

  const std::vector<JobSpan>& spans_;
  const OnesSchedule& current_;
  std::size_t places_;  ///< GPUs and 1
  std::size_t words_;
  std::vector<std::int32_t> cost_;   ///< [k x places + i]
  std::vector<std::int32_t> last_;   ///< span that ends at i; kFreeGpu: GPU i - 1 stays free
  std::vector<std::uint64_t> used_;  ///< spans of the best path, a bit each
  std::vector<std::int32_t> free_;   ///< GPUs that the best path leaves free
  std::vector<std::int32_t> replaced_;
  std::int32_t most_free_ = 0;
};

OnesSchedule in_order(const std::vector<JobSpan>& spans, std::size_t gpus) {
  OnesSchedule schedule;
  for (const JobSpan& span : spans)
    schedule.insert(schedule.end(), static_cast<std::size_t>(span.gpus), span.job);
  BERTH_ENSURE(schedule.size() <= gpus);
  schedule.resize(gpus, kFreeGpu);
  return schedule;
}

}  // namespace

std::int32_t replaced_gpus(const OnesSchedule& current, const OnesSchedule& next) {
  std::int32_t replaced = 0;
  for (std::size_t i = 0; i < current.size(); ++i) {
    if (current[i] != kFreeGpu && next[i] != kFreeGpu && current[i] != next[i]) ++replaced;
  }
  return replaced;
}

OnesSchedule reorder(const OnesSchedule& schedule, const OnesSchedule& current) {
  BERTH_EXPECT(schedule.size() == current.size());
  const std::vector<JobSpan> spans = spans_of(schedule);
  const SpanOrder order(spans, current);
  return order.found() ? order.path() : in_order(spans, current.size());
}

}  // namespace berth::papers
