// SPDX-License-Identifier: Apache-2.0
#include "least_relaxation.hpp"

#include <algorithm>

namespace berth::certify {
namespace {

constexpr int kRounds = 3;  ///< over all resources; chosen, not tuned

/// The search from multipliers of 0 with one order of the resources. With other multipliers at
/// their least bound, one alone may be unable to lower it, so that the order matters.
class MultiplierDescent {
 public:
  /// @param least  the best so far, improved
  MultiplierDescent(const MachineKnapsack& knapsack, RelaxedKnapsack& relaxed, int evaluations,
                    LeastRelaxation& least)
      : knapsack_(knapsack), relaxed_(relaxed), left_(evaluations), least_(least) {}

  /// @param first  position in binding() of the first resource
  void run(std::size_t first) {
    evaluate({});
    bound_ = relaxed_.bound();
    const auto resources = knapsack_.binding();
    for (int round = 0; round < kRounds && !done(); ++round) {
      const Int128 before = bound_;
      for (std::size_t i = 0; i < resources.size() && !done(); ++i) {
        minimise(resources[(first + i) % resources.size()]);
      }
      if (bound_ == before || resources.size() == 1) break;
    }
    keep();
  }

 private:
  /// The bound as a function of one multiplier is at least at_zero + slope x, and equal at this x.
  struct Tangent {
    Int128 x, at_zero, slope;
  };

  [[nodiscard]] bool done() const { return left_ <= 0 || least_.attained >= bound_; }

  /// Moves one multiplier to the least bound, the others constant.
  void minimise(std::size_t resource) {
    Tangent low = at(resource, 0);
    if (low.slope >= 0) return;
    Tangent high = at(resource, highest(resource));
    while (!done() && low.slope < 0 && high.slope > 0) {
      const Int128 x = (low.at_zero - high.at_zero) / (high.slope - low.slope);
      if (x <= low.x || x >= high.x) break;
      const Tangent middle = at(resource, x);
      (middle.slope < 0 ? low : high) = middle;
    }
  }

  Tangent at(std::size_t resource, Int128 x) {
    Multipliers trial = multipliers_;
    trial[resource] = x;
    const Int128 slope = knapsack_.room()[resource] - evaluate(trial).needs[resource];
    const Int128 bound = relaxed_.bound();
    if (bound < bound_) {
      bound_ = bound;
      multipliers_ = trial;
    }
    return {x, bound - slope * x, slope};
  }

  RelaxedKnapsack::Content evaluate(const Multipliers& trial) {
    --left_;
    relaxed_.set(trial);
    const RelaxedKnapsack::Content content = relaxed_.best();
    const bool fits =
        content.enough && std::ranges::all_of(knapsack_.binding(), [&](std::size_t r) {
          return content.needs[r] <= knapsack_.room()[r];
        });
    if (fits) least_.attained = std::max(least_.attained, content.price);
    return content;
  }

  void keep() {
    if (bound_ >= least_.bound) return;
    least_.bound = bound_;
    least_.multipliers = multipliers_;
  }

  /// The multiplier at which no item that needs the resource earns anything.
  [[nodiscard]] Int128 highest(std::size_t resource) const {
    Int128 most = 0;
    for (const auto items : {knapsack_.tasks(), knapsack_.shares(), knapsack_.without_gpus()}) {
      for (const MachineKnapsack::Item& item : items) {
        if (item.needs[resource] == 0) continue;
        most = std::max(most, (item.price + item.needs[resource] - 1) / item.needs[resource]);
      }
    }
    return most;
  }

  const MachineKnapsack& knapsack_;
  RelaxedKnapsack& relaxed_;
  int left_;  ///< evaluations
  LeastRelaxation& least_;
  Multipliers multipliers_{};
  Int128 bound_ = 0;
};

}  // namespace

LeastRelaxation least_relaxation(const MachineKnapsack& knapsack, RelaxedKnapsack& relaxed,
                                 int evaluations) {
  relaxed.set({});
  LeastRelaxation least{.bound = relaxed.bound()};
  const std::size_t orders = std::max<std::size_t>(1, knapsack.binding().size());
  for (std::size_t first = 0; first < orders && least.attained < least.bound; ++first) {
    const int share = evaluations / static_cast<int>(orders);
    MultiplierDescent(knapsack, relaxed, share, least).run(first);
  }
  relaxed.set(least.multipliers);
  return least;
}

}  // namespace berth::certify
