// SPDX-License-Identifier: Apache-2.0
#include "berth/strads/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "berth/base/option_range.hpp"
#include "berth/base/random.hpp"

namespace berth::strads {
namespace {

constexpr std::uint64_t kStage = 0x5354;  ///< key of the draws: "ST" in ASCII

/// The weight added to every block; 1 when no block has any importance.
double floor_of(std::span<const Block> blocks, double share) {
  double sum = 0.0;
  for (const Block& b : blocks) sum += b.importance;
  return sum > 0.0 ? share * sum / static_cast<double>(blocks.size()) : 1.0;
}

double gumbel_key(const Block& block, double floor, int round, std::uint64_t seed) {
  const double u = random_unit(
      {kStage, seed, static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(block.id)});
  constexpr double kHalfStep = 0x1.0p-54;  // half of the resolution 2^-53 of u: log(0) is excluded
  return std::log(block.importance + floor) - std::log(-std::log(u + kHalfStep));
}

}  // namespace

std::vector<std::size_t> schedule(std::span<const Block> blocks, std::size_t most, int round,
                                  std::uint64_t seed, const ScheduleOptions& options) {
  expect_option("strads: floor", options.floor, above(0.0));
  const double floor = floor_of(blocks, options.floor);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double key = options.rule == SelectionRule::largest
                           ? blocks[i].importance
                           : gumbel_key(blocks[i], floor, round, seed);
    order.emplace_back(-key, i);
  }
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    const Block &x = blocks[a.second], &y = blocks[b.second];
    return std::tie(a.first, x.rank, x.id) < std::tie(b.first, y.rank, y.id);
  });
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) chosen.push_back(order[i].second);
  return chosen;
}

std::vector<int> dispatch(std::span<const std::int64_t> loads, int workers) {
  expect_option("strads: workers", workers, at_least(1.0));
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return loads[i]; });
  std::vector<int> worker(loads.size(), 0);
  std::vector<std::int64_t> sum(static_cast<std::size_t>(workers), 0);
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(sum) - sum.begin();
    worker[i] = static_cast<int>(least);
    sum[static_cast<std::size_t>(least)] += loads[i];
  }
  return worker;
}

}  // namespace berth::strads
