// SPDX-License-Identifier: Apache-2.0
#include "primal_average.hpp"

#include <algorithm>
#include <utility>

namespace berth::solver::bounding {
namespace {

using model::Level;
using model::SpotSet;

constexpr double kUndecided = 0.05;  ///< smaller shares count as decided; chosen, not tuned
/// A place with a smaller share joins the remainder; chosen, not tuned.
constexpr double kMinNamedShare = 0.02;
/// Most places with a case of their own; chosen, not tuned.
constexpr std::size_t kMaxNamedSpots = 6;

/// Weight of an undecided pod relative to an undecided placement; chosen, not tuned.
constexpr double kElsewhere = 0.5;
constexpr double kNearby = 0.25;  ///< weight of an undecided rack of one pod; chosen, not tuned

enum class Granularity : std::uint8_t { by_pod, by_spot };

/// Groups places for branching: racks and spans of one pod and type are one; spans over pods are
/// one.
std::pair<GpuTypeId, PodId> region(const Spot& spot) { return {spot.type, spot.pod}; }

const RestrictedJob* find(std::span<const RestrictedJob> restricted, std::uint32_t job) {
  const auto at = std::ranges::find(restricted, job, &RestrictedJob::job);
  return at == restricted.end() ? nullptr : &*at;
}

}  // namespace

struct PrimalAverage::BranchCandidate {
  std::uint32_t job = 0;
  double score = 0.0;
  Granularity granularity = Granularity::by_pod;
  std::vector<SpotShare> shares;  ///< by place as `granularity` tells places apart, largest first
};

std::vector<PrimalAverage::SpotShare> PrimalAverage::by_region(
    std::span<const SpotShare> shares) const {
  std::vector<SpotShare> regions;
  for (const SpotShare& s : shares) {
    const auto same = std::ranges::find_if(regions, [&](const SpotShare& r) {
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

/// Scores a job in GPUs undecided, the best of the measures tried: docs/decisions/0007.
PrimalAverage::BranchCandidate PrimalAverage::score_job(std::uint32_t job,
                                                        std::vector<SpotShare> shares,
                                                        bool may_be_out) const {
  double in = 0.0;
  for (SpotShare& s : shares) in += s.amount /= total_;
  BranchCandidate found{job, 0.0, Granularity::by_pod, {}};
  const double either = may_be_out ? std::min(in, std::max(0.0, 1.0 - in)) : 0.0;
  if (may_be_out && either <= kUndecided && in < 0.5) return found;  // decided: unplaced
  const auto undecided = [&](const std::vector<SpotShare>& of) {
    return 1.0 - std::ranges::max_element(of, {}, &SpotShare::amount)->amount / in;
  };
  std::vector<SpotShare> regions = by_region(shares);
  if (either <= kUndecided && undecided(regions) <= kUndecided)
    found.granularity = Granularity::by_spot;
  found.shares = std::move(found.granularity == Granularity::by_pod ? regions : shares);
  const double open = undecided(found.shares);
  if (std::max(either, open) > kUndecided) {
    found.score =
        table_->size[job] *
        (either + open * (found.granularity == Granularity::by_pod ? kElsewhere : kNearby));
  }
  std::ranges::sort(found.shares, [](const SpotShare& a, const SpotShare& b) {
    return a.amount != b.amount ? a.amount > b.amount : a.spot < b.spot;
  });
  return found;
}

std::optional<Split> PrimalAverage::best_split(std::span<const RestrictedJob> restricted) const {
  BranchCandidate best;
  for (auto from = chosen_.begin(); from != chosen_.end();) {
    const std::uint32_t job = from->first.first;
    std::vector<SpotShare> shares;
    for (; from != chosen_.end() && from->first.first == job; ++from) {
      shares.push_back({from->first.second, from->second});
    }
    const RestrictedJob* now = find(restricted, job);
    BranchCandidate candidate =
        score_job(job, std::move(shares), now == nullptr || now->may_be_unplaced);
    if (candidate.score > best.score) best = std::move(candidate);
  }
  if (!(best.score > 0.0)) return std::nullopt;
  return make_split(best, restricted);
}

std::vector<SpotSet> PrimalAverage::spot_sets_of(const BranchCandidate& candidate,
                                                 std::uint32_t spot) const {
  const Spot& at = table_->spots[spot];
  SpotSet set{.gpu_type = at.type, .pod = at.pod, .rack = {}, .width = {}};
  if (!at.pod.valid()) {
    set.width = Level::cluster;
  } else if (candidate.granularity == Granularity::by_spot) {
    set.width = at.rack.valid() ? Level::rack : Level::pod;
    set.rack = at.rack;
  }
  return {set};
}

Split PrimalAverage::make_split(const BranchCandidate& candidate,
                                std::span<const RestrictedJob> restricted) const {
  const RestrictedJob* now = find(restricted, candidate.job);
  const std::size_t spots = table_->spots.size();
  RestrictedJob remainder =
      now != nullptr ? *now : RestrictedJob{candidate.job, true, std::vector(spots, true)};
  Split split{candidate.job, {}};
  if (remainder.may_be_unplaced) {
    split.cases.push_back(
        {true, false, {}, {candidate.job, true, std::vector<bool>(spots, false)}});
    remainder.may_be_unplaced = false;
  }
  for (const SpotShare& share : candidate.shares) {
    if (share.amount < kMinNamedShare || split.cases.size() == kMaxNamedSpots) break;
    BranchCase branch_case{false,
                           false,
                           spot_sets_of(candidate, share.spot),
                           {candidate.job, false, std::vector<bool>(spots, false)}};
    for (std::uint32_t s = 0; s < spots; ++s) {
      const bool held = candidate.granularity == Granularity::by_spot
                            ? s == share.spot
                            : region(table_->spots[s]) == region(table_->spots[share.spot]);
      if (!held || !remainder.spots[s]) continue;
      branch_case.job.spots[s] = true;
      remainder.spots[s] = false;
    }
    split.cases.push_back(std::move(branch_case));
  }
  split.cases.push_back({remainder.may_be_unplaced, true, {}, std::move(remainder)});
  return split;
}

}  // namespace berth::solver::bounding
