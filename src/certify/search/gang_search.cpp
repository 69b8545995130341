// SPDX-License-Identifier: Apache-2.0
#include "search/gang_search.hpp"

#include "search/gang_bound.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::certify::search {
namespace {

constexpr Int128 kFirstSlack = 8192;          ///< divides the bound; chosen, not tuned
constexpr std::int64_t kPartOfSteps = 3;      ///< of those left, for one slack
constexpr std::size_t kMostStates = 200'000;  ///< remembered
constexpr std::size_t kMostCells = 500'000;   ///< of the tables

class GangSearch {
 public:
  GangSearch(const GangProblem& problem, std::int64_t steps)
      : problem_(problem), bound_(problem), steps_left_(steps) {
    for (const auto& place : problem.places) left_.push_back(place.capacity);
    find_alike();
  }

  Int128 run() {
    Int128 all = 0;
    for (const auto& gang : problem_.gangs) all += *std::ranges::max_element(gang.gain);
    if (bound_.cells() > kMostCells) return all;
    const Int128 root = std::min(all, bound_.find_prices());
    Int128 proved = root;
    for (Int128 slack = root / kFirstSlack + 1;; slack *= 2) {
      const Int128 least = std::max<Int128>(0, root - slack);
      floor_ = least;
      const std::int64_t kept = steps_left_ - steps_left_ / kPartOfSteps;
      steps_left_ -= kept;
      seen_.clear();
      search(0, 0);
      if (steps_left_ <= 0) return proved;
      proved = floor_;  // the best choice, or nothing gains more than `least`
      if (floor_ > least || least == 0) return proved;
      steps_left_ += kept;
    }
  }

 private:
  /// Innermost places with equal gains and one place above are alike.
  void find_alike() {
    std::vector<std::size_t> inner(left_.size(), 0);
    for (std::size_t p = 0; p < left_.size(); ++p) {
      const std::int32_t above = problem_.places[p].above;
      if (above >= 0) inner[static_cast<std::size_t>(above)] = static_cast<std::size_t>(above) + 1;
    }
    std::map<std::tuple<std::int32_t, std::size_t, std::vector<Int128>>, std::size_t> known;
    for (std::size_t p = 0; p < left_.size(); ++p) {
      std::vector<Int128> gain;
      for (const auto& gang : problem_.gangs) gain.push_back(gang.gain[p]);
      const auto [at, fresh] =
          known.try_emplace({problem_.places[p].above, inner[p], std::move(gain)}, groups_.size());
      if (fresh) groups_.emplace_back();
      groups_[at->second].push_back(p);
      group_.push_back(at->second);
    }
  }

  [[nodiscard]] bool fits(std::int32_t size, std::size_t place) const {
    for (auto p = static_cast<std::int32_t>(place); p >= 0;
         p = problem_.places[static_cast<std::size_t>(p)].above) {
      if (left_[static_cast<std::size_t>(p)] < size) return false;
    }
    return true;
  }
  void change(std::size_t place, std::int32_t units) {
    for (auto p = static_cast<std::int32_t>(place); p >= 0;
         p = problem_.places[static_cast<std::size_t>(p)].above) {
      left_[static_cast<std::size_t>(p)] += units;
    }
  }

  /// False when as much was gained before with the same gangs left and equal room.
  bool is_new(std::size_t depth, Int128 gain) {
    if (seen_.size() >= kMostStates) return true;
    std::vector<std::int32_t> key{static_cast<std::int32_t>(depth)};
    for (const auto& group : groups_) {
      const auto first = static_cast<std::ptrdiff_t>(key.size());
      for (const std::size_t p : group) key.push_back(left_[p]);
      std::sort(key.begin() + first, key.end());
    }
    const auto [at, fresh] = seen_.try_emplace(std::move(key), gain);
    if (!fresh && at->second >= gain) return false;
    at->second = gain;
    return true;
  }

  struct Choice {
    Int128 bound = 0;
    std::size_t place = 0;  ///< number of places: left out
  };

  /// What may gain more than the floor, the best bound first.
  std::vector<Choice> choices(std::size_t depth, Int128 gain) {
    const Int128 rest = gain + bound_.at(depth + 1, left_);
    steps_left_ -= static_cast<std::int64_t>(left_.size());
    std::vector<Choice> found;
    if (rest > floor_) found.push_back({rest, left_.size()});
    const GangProblem::Gang& gang = problem_.gangs[depth];
    std::vector<std::pair<std::size_t, std::int32_t>> tried;
    for (std::size_t p = 0; p < left_.size(); ++p) {
      if (gang.gain[p] <= 0 || !fits(gang.size, p)) continue;
      if (std::ranges::find(tried, std::pair(group_[p], left_[p])) != tried.end()) continue;
      tried.emplace_back(group_[p], left_[p]);
      const std::size_t outer = bound_.outermost(p);
      const Int128 bound = rest + gang.gain[p] - bound_.profit(outer, depth + 1, left_[outer]) +
                           bound_.profit(outer, depth + 1, left_[outer] - gang.size);
      if (bound > floor_) found.push_back({bound, p});
    }
    std::ranges::stable_sort(found, std::greater<>{}, &Choice::bound);
    return found;
  }

  void search(std::size_t depth, Int128 gain) {
    if (depth == problem_.gangs.size()) {
      floor_ = std::max(floor_, gain);
      return;
    }
    if (!is_new(depth, gain)) return;
    const GangProblem::Gang& gang = problem_.gangs[depth];
    for (const Choice& choice : choices(depth, gain)) {
      if (steps_left_ <= 0) return;
      if (choice.bound <= floor_) continue;
      if (choice.place == left_.size()) {
        search(depth + 1, gain);
        continue;
      }
      change(choice.place, -gang.size);
      search(depth + 1, gain + gang.gain[choice.place]);
      change(choice.place, gang.size);
    }
  }

  const GangProblem& problem_;
  GangBound bound_;
  std::int64_t steps_left_;
  std::vector<std::int32_t> left_;  ///< by place: units
  std::vector<std::size_t> group_;  ///< by place: of places that are alike
  std::vector<std::vector<std::size_t>> groups_;
  std::map<std::vector<std::int32_t>, Int128> seen_;
  Int128 floor_ = 0;
};

}  // namespace

Int128 most_of_gangs(const GangProblem& problem, std::int64_t steps) {
  if (problem.gangs.empty()) return 0;
  return GangSearch(problem, steps).run();
}

}  // namespace berth::certify::search
