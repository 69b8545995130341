// SPDX-License-Identifier: Apache-2.0
#include "room.hpp"

#include <algorithm>
#include <numeric>

#include "berth/base/infinity.hpp"

namespace berth::papers {
namespace {

/// Takes the items in this order, each if it fits.
KnapsackChoice take_items(const Knapsack& knapsack, std::span<const std::size_t> order,
                          KnapsackRoom& room) {
  KnapsackChoice choice;
  choice.taken.assign(knapsack.items(), 0);
  for (const std::size_t i : order) {
    if (knapsack.utility[i] <= 0.0 || !room.fits(i)) continue;
    room.take(i);
    choice.taken[i] = 1;
    choice.utility += knapsack.utility[i];
  }
  return choice;
}

/// Puts one item in for one taken, or for none, if that gains. True: it did.
bool exchange_item(const Knapsack& knapsack, KnapsackRoom& room, KnapsackChoice& choice,
                   std::size_t in) {
  if (choice.taken[in] != 0 || knapsack.utility[in] <= 0.0) return false;
  std::size_t out = knapsack.items();  // none
  if (!room.fits(in)) {
    for (std::size_t i = 0; i < knapsack.items(); ++i) {
      if (choice.taken[i] == 0 || knapsack.utility[i] >= knapsack.utility[in]) continue;
      if (out < knapsack.items() && knapsack.utility[i] >= knapsack.utility[out]) continue;
      room.put_back(i);
      if (room.fits(in)) out = i;
      room.take(i);
    }
    if (out == knapsack.items()) return false;
    room.put_back(out);
    choice.taken[out] = 0;
    choice.utility -= knapsack.utility[out];
  }
  room.take(in);
  choice.taken[in] = 1;
  choice.utility += knapsack.utility[in];
  return true;
}

}  // namespace

KnapsackChoice greedy_knapsack(const Knapsack& knapsack, std::span<const double> price) {
  std::vector<double> worth(knapsack.items());
  for (std::size_t i = 0; i < worth.size(); ++i) {
    const auto size = knapsack.size_of(i);
    const double cost = std::inner_product(size.begin(), size.end(), price.begin(), 0.0);
    worth[i] = cost > 0.0 ? knapsack.utility[i] / cost : kInfinity;
  }
  std::vector<std::size_t> order(knapsack.items());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return worth[i]; });
  KnapsackRoom room(knapsack);
  KnapsackChoice choice = take_items(knapsack, order, room);
  for (bool gained = true; gained;) {
    gained = false;
    for (std::size_t i = 0; i < knapsack.items(); ++i) {
      gained = exchange_item(knapsack, room, choice, i) || gained;
    }
  }
  return choice;
}

KnapsackChoice first_fit_knapsack(const Knapsack& knapsack, bool by_utility) {
  std::vector<std::size_t> order(knapsack.items());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (by_utility) {
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::size_t i) { return knapsack.utility[i]; });
  }
  KnapsackRoom room(knapsack);
  return take_items(knapsack, order, room);
}

}  // namespace berth::papers
