// SPDX-License-Identifier: Apache-2.0
#include "multiple_knapsack.hpp"

#include "bin_dual.hpp"
#include "subgradient.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "berth/base/random.hpp"

namespace berth::solver::bounding {
namespace {

constexpr double kRounding = 1e-9;          ///< of sums of values, relative
constexpr double kFirstSlack = 1.0 / 8192;  ///< part of the bound; chosen, not tuned
constexpr double kSlackGrowth = 2.0;        ///< chosen, not tuned
/// A search with one slack takes at most this part of the steps left. Chosen, not tuned.
constexpr std::int64_t kPartOfSteps = 3;
constexpr std::size_t kMostStates = 1'000'000;  ///< remembered

std::vector<std::uint32_t> largest_first(const MultipleKnapsack& problem) {
  std::vector<std::uint32_t> order(problem.sizes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (problem.sizes[a] != problem.sizes[b]) return problem.sizes[a] > problem.sizes[b];
    return problem.values[a] > problem.values[b];
  });
  return order;
}

class Search {
 public:
  Search(const MultipleKnapsack& problem, const MultipleKnapsackOptions& options)
      : problem_(problem),
        order_(largest_first(problem)),
        dual_(problem, order_),
        left_(problem.places.size()),
        at_(order_.size(), -1),
        steps_left_(options.steps) {
    for (std::size_t p = 0; p < left_.size(); ++p) left_[p] = problem.places[p].capacity;
    best_.place.assign(order_.size(), -1);
    list_options();
    find_alike();
  }

  MultipleKnapsackResult run(const MultipleKnapsackOptions& options) {
    if (dual_.cells() > options.cells) return best_;
    lower_bound(options.evaluations);
    for (double slack = kFirstSlack * best_.bound; steps_left_ > 0; slack *= kSlackGrowth) {
      const double least = best_.bound - slack;
      floor_ = std::max(least, above_best());
      const std::int64_t kept = least < best_.value ? 0 : steps_left_ - steps_left_ / kPartOfSteps;
      steps_left_ -= kept;
      seen_.clear();
      search(0, 0.0);
      best_.complete = steps_left_ > 0 && best_.value >= least;
      if (best_.complete || least < best_.value) break;
      steps_left_ = std::max<std::int64_t>(0, steps_left_) + kept;
    }
    return best_;
  }

 private:
  struct Choice {
    double bound = 0.0;
    std::int32_t place = -1;
  };

  /// By position: the places of the item, where a place above is not as good.
  void list_options() {
    options_.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::vector<double>& values = problem_.values[order_[i]];
      for (std::size_t p = 0; p < left_.size(); ++p) {
        const std::int32_t above = problem_.places[p].above;
        const bool dominated = above >= 0 && values[static_cast<std::size_t>(above)] >= values[p];
        if (values[p] > 0.0 && !dominated) options_[i].push_back(static_cast<std::int32_t>(p));
      }
    }
  }

  /// Innermost places of one place above with equal values are alike.
  void find_alike() {
    std::vector<std::uint8_t> has_inner(left_.size(), 0);
    for (const auto& p : problem_.places) {
      if (p.above >= 0) has_inner[static_cast<std::size_t>(p.above)] = 1;
    }
    std::map<std::tuple<std::int32_t, std::size_t, std::vector<double>>, std::uint64_t> known;
    for (std::size_t p = 0; p < left_.size(); ++p) {
      std::vector<double> values;
      for (const auto& of_item : problem_.values) values.push_back(of_item[p]);
      const std::size_t unique = has_inner[p] != 0 ? p + 1 : 0;
      const auto at =
          known.try_emplace({problem_.places[p].above, unique, std::move(values)}, known.size());
      alike_.push_back(at.first->second);
    }
    for (std::size_t p = 0; p < left_.size(); ++p) state_ += place_state(p);
  }

  void lower_bound(int evaluations) {
    std::vector<std::int32_t> sizes, chosen(order_.size());
    std::vector<double> start;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      sizes.push_back(problem_.sizes[order_[i]]);
      start.push_back(0.5 * dual_.most(i));
    }
    const std::vector<PriceSign> signs(order_.size(), PriceSign::positive);
    const JobPriceOptions steps;
    SubgradientMethod subgradient(start, signs, sizes, steps);
    std::vector<double> prices = start;
    best_.bound = HUGE_VAL;
    for (int k = 0; k < std::max(1, evaluations); ++k) {
      const double value = dual_.evaluate(subgradient.prices(), chosen);
      const bool better = value < best_.bound * (1.0 - kLeastRelativeGain);
      if (value < best_.bound) {
        best_.bound = value;
        prices.assign(subgradient.prices().begin(), subgradient.prices().end());
      }
      subgradient.shrink_when_stalled(better);
      const double target = best_.bound * (1.0 - kMaxTargetGap);
      if (!subgradient.take_step(chosen, value - target)) break;
    }
    dual_.evaluate(prices, chosen);
    prices_left_.assign(order_.size() + 1, 0.0);
    for (std::size_t i = order_.size(); i-- > 0;) prices_left_[i] = prices_left_[i + 1] + prices[i];
  }

  [[nodiscard]] double above_best() const { return best_.value * (1.0 + kRounding); }
  [[nodiscard]] std::uint64_t place_state(std::size_t place) const {
    return mix64((alike_[place] << 32U) + static_cast<std::uint64_t>(left_[place]));
  }

  [[nodiscard]] bool fits(std::size_t item, std::int32_t place) const {
    for (; place >= 0; place = problem_.places[static_cast<std::size_t>(place)].above) {
      if (left_[static_cast<std::size_t>(place)] < problem_.sizes[item]) return false;
    }
    return true;
  }
  /// Adds units to what is left of a place and of those above.
  void change(std::int32_t place, std::int32_t units) {
    for (; place >= 0; place = problem_.places[static_cast<std::size_t>(place)].above) {
      const auto p = static_cast<std::size_t>(place);
      state_ -= place_state(p);
      left_[p] += units;
      state_ += place_state(p);
    }
  }

  bool is_new(std::size_t position, double value) {
    if (seen_.size() >= kMostStates) return true;
    const auto [at, fresh] = seen_.try_emplace(mix64(state_ + position), value);
    if (fresh) return true;
    if (at->second >= value) return false;
    at->second = value;
    return true;
  }

  /// The choices for the item at a position that may lead above the floor; the best bound first.
  [[nodiscard]] std::vector<Choice> choices(std::size_t position, double value) {
    const std::size_t item = order_[position];
    double rest = value + prices_left_[position + 1];
    for (std::size_t p = 0; p < left_.size(); ++p) {
      if (problem_.places[p].above < 0) rest += dual_.profit(dual_.bin(p), position + 1, left_[p]);
    }
    steps_left_ -= static_cast<std::int64_t>(left_.size());
    std::vector<Choice> found;
    if (rest > floor_) found.push_back({rest, -1});
    std::vector<std::uint64_t> tried;
    for (const std::int32_t place : options_[position]) {
      if (!fits(item, place)) continue;
      const std::uint64_t state = place_state(static_cast<std::size_t>(place));
      if (std::ranges::find(tried, state) != tried.end()) continue;
      tried.push_back(state);
      const std::size_t bin = dual_.bin(static_cast<std::size_t>(place));
      const std::int32_t left = left_[outermost(place)];
      const double bound = rest + problem_.values[item][static_cast<std::size_t>(place)] +
                           dual_.profit(bin, position + 1, left - problem_.sizes[item]) -
                           dual_.profit(bin, position + 1, left);
      if (bound > floor_) found.push_back({bound, place});
    }
    std::ranges::stable_sort(found, std::greater<>{}, &Choice::bound);
    return found;
  }
  [[nodiscard]] std::size_t outermost(std::int32_t place) const {
    auto p = static_cast<std::size_t>(place);
    while (problem_.places[p].above >= 0) p = static_cast<std::size_t>(problem_.places[p].above);
    return p;
  }

  void search(std::size_t position, double value) {
    if (position == order_.size()) {
      if (value <= floor_) return;
      best_.value = value;
      for (std::size_t i = 0; i < order_.size(); ++i) best_.place[order_[i]] = at_[i];
      floor_ = above_best();
      return;
    }
    if (!is_new(position, value)) return;
    const std::size_t item = order_[position];
    for (const Choice& choice : choices(position, value)) {
      if (steps_left_ <= 0) return;
      if (choice.bound <= floor_) continue;
      at_[position] = choice.place;
      change(choice.place, -problem_.sizes[item]);
      const auto place = static_cast<std::size_t>(choice.place);
      search(position + 1, value + (choice.place < 0 ? 0.0 : problem_.values[item][place]));
      change(choice.place, problem_.sizes[item]);
    }
  }

  const MultipleKnapsack& problem_;
  std::vector<std::uint32_t> order_;  ///< items by position
  BinDual dual_;
  std::vector<std::vector<std::int32_t>> options_;  ///< by position
  std::vector<std::uint64_t> alike_;                ///< by place: equal for places that are alike
  std::vector<std::int32_t> left_;                  ///< by place
  std::vector<double> prices_left_;                 ///< by position: of it and all after
  std::vector<std::int32_t> at_;                    ///< by position: place
  std::uint64_t state_ = 0;                         ///< hash of what is left of the places
  std::unordered_map<std::uint64_t, double> seen_;  ///< by state and position: the largest value
  double floor_ = 0.0;                              ///< choices that are not above do not count
  std::int64_t steps_left_;
  MultipleKnapsackResult best_;
};

}  // namespace

MultipleKnapsackResult solve(const MultipleKnapsack& problem,
                             const MultipleKnapsackOptions& options) {
  return Search(problem, options).run(options);
}

}  // namespace berth::solver::bounding
