// SPDX-License-Identifier: Apache-2.0
#include "primal_average.hpp"

#include <algorithm>
#include <utility>

namespace berth::solver::bounding {
namespace {

using model::Level;
using model::SpotSet;

constexpr double kUndecided = 0.05;  ///< less than this is decided
constexpr double kNamed = 0.02;      ///< a place with less is part of the rest
constexpr std::size_t kMostNamed = 6;

constexpr double kElsewhere = 0.5;  ///< being in another pod matters less than being in at all
constexpr double kNearby = 0.25;    ///< and in another rack of the pod still less

enum class Way : std::uint8_t { by_pod, by_spot };

/// Racks and spans of one pod and type are one place; spans over pods are one.
std::pair<GpuTypeId, PodId> region(const Spot& spot) { return {spot.type, spot.pod}; }

const Confined* find(std::span<const Confined> confined, std::uint32_t job) {
  const auto at = std::ranges::find(confined, job, &Confined::job);
  return at == confined.end() ? nullptr : &*at;
}

}  // namespace

struct Shares::Candidate {
  std::uint32_t job = 0;
  double score = 0.0;
  Way way = Way::by_pod;
  std::vector<Share> shares;  ///< by place as `way` tells places apart, largest first
};

std::vector<Shares::Share> Shares::by_region(std::span<const Share> shares) const {
  std::vector<Share> regions;
  for (const Share& s : shares) {
    const auto same = std::ranges::find_if(regions, [&](const Share& r) {
      return region(table_->spots[r.spot]) == region(table_->spots[s.spot]);
    });
    if (same == regions.end()) {
      regions.push_back(s);
    } else {
      same->amount += s.amount;
    }
  }
  return regions;
}

/// Scores are in GPUs: a gang's size is what a wrong decision moves.
Shares::Candidate Shares::judge(std::uint32_t job, std::vector<Share> shares,
                                bool may_be_out) const {
  double in = 0.0;
  for (Share& s : shares) in += s.amount /= total_;
  Candidate found{job, 0.0, Way::by_pod, {}};
  const double either = may_be_out ? std::min(in, std::max(0.0, 1.0 - in)) : 0.0;
  if (may_be_out && either <= kUndecided && in < 0.5) return found;  // it is out
  const auto undecided = [&](const std::vector<Share>& of) {
    return 1.0 - std::ranges::max_element(of, {}, &Share::amount)->amount / in;
  };
  std::vector<Share> regions = by_region(shares);
  if (either <= kUndecided && undecided(regions) <= kUndecided) found.way = Way::by_spot;
  found.shares = std::move(found.way == Way::by_pod ? regions : shares);
  const double open = undecided(found.shares);
  if (std::max(either, open) > kUndecided) {
    found.score =
        table_->size[job] * (either + open * (found.way == Way::by_pod ? kElsewhere : kNearby));
  }
  std::ranges::sort(found.shares, [](const Share& a, const Share& b) {
    return a.amount != b.amount ? a.amount > b.amount : a.spot < b.spot;
  });
  return found;
}

std::optional<Split> Shares::best_split(std::span<const Confined> confined) const {
  Candidate best;
  for (auto from = chosen_.begin(); from != chosen_.end();) {
    const std::uint32_t job = from->first.first;
    std::vector<Share> shares;
    for (; from != chosen_.end() && from->first.first == job; ++from) {
      shares.push_back({from->first.second, from->second});
    }
    const Confined* now = find(confined, job);
    Candidate candidate = judge(job, std::move(shares), now == nullptr || now->out);
    if (candidate.score > best.score) best = std::move(candidate);
  }
  if (!(best.score > 0.0)) return std::nullopt;
  return parts_of(best, confined);
}

std::vector<SpotSet> Shares::case_of(const Candidate& candidate, std::uint32_t spot) const {
  const Spot& at = table_->spots[spot];
  SpotSet set{.gpu_type = at.type, .pod = at.pod, .rack = {}, .width = {}};
  if (!at.pod.valid()) {
    set.width = Level::cluster;
  } else if (candidate.way == Way::by_spot) {
    set.width = at.rack.valid() ? Level::rack : Level::pod;
    set.rack = at.rack;
  }
  return {set};
}

Split Shares::parts_of(const Candidate& candidate, std::span<const Confined> confined) const {
  const Confined* now = find(confined, candidate.job);
  const std::size_t spots = table_->spots.size();
  Confined rest = now != nullptr ? *now : Confined{candidate.job, true, std::vector(spots, true)};
  Split split{candidate.job, {}};
  if (rest.out) {
    split.parts.push_back(
        {true, false, {}, {candidate.job, true, std::vector<bool>(spots, false)}});
    rest.out = false;
  }
  for (const Share& share : candidate.shares) {
    if (share.amount < kNamed || split.parts.size() == kMostNamed) break;
    Part part{false,
              false,
              case_of(candidate, share.spot),
              {candidate.job, false, std::vector<bool>(spots, false)}};
    for (std::uint32_t s = 0; s < spots; ++s) {
      const bool held = candidate.way == Way::by_spot
                            ? s == share.spot
                            : region(table_->spots[s]) == region(table_->spots[share.spot]);
      if (!held || !rest.spots[s]) continue;
      part.job.spots[s] = true;
      rest.spots[s] = false;
    }
    split.parts.push_back(std::move(part));
  }
  split.parts.push_back({rest.out, true, {}, std::move(rest)});
  return split;
}

}  // namespace berth::solver::bounding
