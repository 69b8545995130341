// SPDX-License-Identifier: Apache-2.0
#include "horizon/start_pieces.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver::horizon_plan {
namespace {

using berth::horizon::CostPiece;

/// F at a start, by binary search for everything.
double cost_of_start(const PriceCurve& curve, const StartQuery& query, double start) {
  const double completion = start + query.duration;
  std::size_t piece = 0;
  while (piece + 1 < query.cost.size() &&
         static_cast<double>(query.cost[piece + 1].after) < completion) {
    ++piece;
  }
  const CostPiece& cost = query.cost[piece];
  return cost.cost + cost.slope * (completion - static_cast<double>(cost.after)) +
         query.gpus * curve.rent(start, completion);
}

double least_cost(const PriceCurve& curve, const StartQuery& query) {
  double least = kInfinity;
  visit_start_pieces(curve, query, [&](const StartPiece& piece) {
    // at a jump of the cost, the piece behind it starts higher than the start itself costs
    EXPECT_GE(piece.cost, cost_of_start(curve, query, piece.start) - 1e-6);
    least = std::min(least, piece.cost);
    return least;
  });
  return least;
}

/// Six intervals with jumps, and a cost with three slopes and two jumps.
struct RandomCase {
  explicit RandomCase(std::uint64_t seed_) : seed(seed_) {
    grid = {0};
    for (int k = 0; k < 6; ++k) grid.push_back(grid.back() + 1 + below(20));
    for (int i = 0; i < 12; ++i) ends.push_back(below(4) == 0 ? 0.0 : unit() * 3.0);
    const auto release = below(grid.back());
    double at = -40.0 * unit();
    for (Seconds after = release; cost.size() < 3; after += 1 + below(40)) {
      const double slope = cost.size() == 2 ? 0.0 : unit();
      if (!cost.empty()) at += 40.0 * cost.back().slope + 5.0 * unit();
      cost.push_back({after, at, slope});
    }
    query = {.earliest = static_cast<double>(release),
             .latest = below(3) == 0 ? static_cast<double>(release + below(60)) : kInfinity,
             .duration = static_cast<double>(1 + below(50)),
             .gpus = static_cast<double>(1 + below(8)),
             .cost = cost};
  }
  double unit() { return random_unit({seed, draws++}); }
  Seconds below(Seconds bound) {
    return static_cast<Seconds>(random_below(static_cast<std::uint64_t>(bound), {seed, draws++}));
  }
  std::uint64_t seed, draws = 0;
  PriceGrid grid;
  std::vector<double> ends;
  std::vector<CostPiece> cost;
  StartQuery query;
};

TEST(StartPieces, find_the_least_cost_that_dense_sampling_finds) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase random(seed);
    const PriceCurve curve(random.grid, random.ends);
    const double least = least_cost(curve, random.query);
    const double last =
        std::min(random.query.latest, static_cast<double>(random.grid.back()) + 1.0);
    double sampled = cost_of_start(curve, random.query, random.query.earliest);
    for (double start = random.query.earliest; start <= last; start += 1.0 / 16.0) {
      sampled = std::min(sampled, cost_of_start(curve, random.query, start));
    }
    EXPECT_LE(least, sampled + 1e-9);
    EXPECT_GE(least, sampled - 0.05);  // between samples; slopes are below 30
  }
}

TEST(StartPieces, has_no_piece_after_the_deadline) {
  const PriceGrid grid{0, 10};
  const PriceCurve curve(grid, std::array{1.0, 0.0});
  const std::array cost{CostPiece{0, 0.0, 1.0}};
  const StartQuery query{
      .earliest = 5.0, .latest = 4.0, .duration = 1.0, .gpus = 1.0, .cost = cost};
  int pieces = 0;
  visit_start_pieces(curve, query, [&](const StartPiece&) { return ++pieces, kInfinity; });
  EXPECT_EQ(pieces, 0);
}

TEST(StartPieces, waits_for_cheap_time_when_delay_costs_less) {
  const PriceGrid grid{0, 100, 200};
  const PriceCurve curve(grid, std::array{1.0, 1.0, 0.0, 0.0});
  const std::array cost{CostPiece{0, 0.0, 0.25}};
  const StartQuery query{.earliest = 0.0, .duration = 40.0, .gpus = 2.0, .cost = cost};
  // now: 40 x 0.25 + 2 x 40 = 90; at 100: 140 x 0.25 = 35
  EXPECT_DOUBLE_EQ(least_cost(curve, query), 35.0);
}

}  // namespace
}  // namespace berth::solver::horizon_plan
