// SPDX-License-Identifier: Apache-2.0
#include "berth/strads/commit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/option_range.hpp"

namespace berth::strads {

std::uint32_t Versions::of(ItemKey key) const {
  const auto found = count_.find(key);
  return found == count_.end() ? 0 : found->second;
}

CommitLog::CommitLog(std::vector<SharedResource> resources)
    : resources_(std::move(resources)), use_(resources_.size(), 0.0) {}

bool CommitLog::fits(std::span<const ResourceChange> changes) const {
  return std::ranges::all_of(changes, [&](const ResourceChange& t) {
    const SharedResource& r = resources_[t.resource];
    return t.change <= 0.0 || r.curvature > 0.0 || use_[t.resource] + t.change <= r.capacity;
  });
}

double CommitLog::interference(std::span<const ResourceChange> changes,
                               std::uint64_t snapshot) const {
  BERTH_EXPECT(snapshot <= now());
  std::map<std::size_t, std::pair<double, double>> since;  // ups and downs of the others
  for (std::uint64_t at = snapshot; at < now(); ++at) {
    for (const ResourceChange& t : log_[at]) {
      auto& [up, down] = since[t.resource];
      (t.change > 0.0 ? up : down) += std::abs(t.change);
    }
  }
  double sum = 0.0;
  for (const ResourceChange& t : changes) {
    const auto found = since.find(t.resource);
    if (found == since.end()) continue;
    const auto& [up, down] = found->second;
    sum += resources_[t.resource].curvature * std::abs(t.change) * (t.change > 0.0 ? up : down);
  }
  return sum;
}

void CommitLog::apply(std::span<const ResourceChange> changes) {
  for (const ResourceChange& t : changes) use_[t.resource] += t.change;
  log_.emplace_back(changes.begin(), changes.end());
}

std::vector<std::size_t> commit_order(std::span<const Proposal> proposals) {
  std::vector<std::size_t> order(proposals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {},
                    [&](std::size_t i) { return std::pair(-proposals[i].gain, proposals[i].id); });
  return order;
}

std::vector<CommitVerdict> commit(std::span<const Proposal> proposals, Versions& versions,
                                  CommitLog& log, double theta) {
  expect_option("strads: theta", theta, {.least = 0.0, .most = 1.0, .without_most = true});
  std::vector<CommitVerdict> verdicts(proposals.size(), CommitVerdict::committed);
  for (const std::size_t i : commit_order(proposals)) {
    const Proposal& p = proposals[i];
    const auto stale = [&](const ReadVersion& s) { return versions.of(s.key) != s.version; };
    if (std::ranges::any_of(p.reads, stale)) {
      verdicts[i] = CommitVerdict::stale;
    } else if (!log.fits(p.use)) {
      verdicts[i] = CommitVerdict::over_capacity;
    } else if (log.interference(p.use, p.snapshot) > theta * p.gain) {
      verdicts[i] = CommitVerdict::interference;
    } else {
      log.apply(p.use);
      for (const ReadVersion& s : p.reads) versions.change(s.key);
    }
  }
  return verdicts;
}

}  // namespace berth::strads
