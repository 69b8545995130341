// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/packing_covering.hpp"

#include "petsc_environment.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver {
namespace {

using Status = PackingCoveringStatus;
using Point = std::array<double, 3>;

/// Three variables in a dense table, for the vertex enumeration.
struct Table {
  Point cost{}, upper{kInfinity, kInfinity, kInfinity};
  std::vector<std::pair<Point, double>> covering, packing;
};

PackingCoveringProgram program_of(const Table& t) {
  PackingCoveringProgram program;
  for (const auto& row : t.covering) program.add_covering_row(row.second);
  for (const auto& row : t.packing) program.add_packing_row(row.second);
  for (std::size_t j = 0; j < 3; ++j) {
    PackingCoveringProgram::Column column{t.cost[j], {}, {}, t.upper[j]};
    for (std::size_t i = 0; i < t.covering.size(); ++i) {
      column.covering.push_back({i, t.covering[i].first[j]});
    }
    for (std::size_t i = 0; i < t.packing.size(); ++i) {
      column.packing.push_back({i, t.packing[i].first[j]});
    }
    program.add_column(std::move(column));
  }
  return program;
}

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double determinant(const Point& a, const Point& b, const Point& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
         a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// Least cost over all corners of three tight constraints; infinite when none is feasible.
double cheapest_corner(const Table& t) {
  std::vector<std::pair<Point, double>> planes = t.covering;
  planes.insert(planes.end(), t.packing.begin(), t.packing.end());
  for (std::size_t j = 0; j < 3; ++j) {
    Point axis{};
    axis[j] = 1.0;
    planes.emplace_back(axis, 0.0);
    if (t.upper[j] < kInfinity) planes.emplace_back(axis, t.upper[j]);
  }
  const auto feasible = [&](const Point& x) {
    for (std::size_t j = 0; j < 3; ++j) {
      if (x[j] < -1e-9 || x[j] > t.upper[j] + 1e-9) return false;
    }
    return std::ranges::all_of(t.covering,
                               [&](const auto& r) { return dot(r.first, x) > r.second - 1e-9; }) &&
           std::ranges::all_of(t.packing,
                               [&](const auto& r) { return dot(r.first, x) < r.second + 1e-9; });
  };
  double best = kInfinity;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    for (std::size_t k = i + 1; k < planes.size(); ++k) {
      for (std::size_t l = k + 1; l < planes.size(); ++l) {
        const std::array rows{planes[i], planes[k], planes[l]};
        const double det = determinant(rows[0].first, rows[1].first, rows[2].first);
        if (std::abs(det) < 1e-12) continue;
        Point x{};
        for (std::size_t j = 0; j < 3; ++j) {
          auto replaced = rows;
          for (auto& row : replaced) row.first[j] = row.second;
          x[j] = determinant(replaced[0].first, replaced[1].first, replaced[2].first) / det;
        }
        if (feasible(x)) best = std::min(best, dot(t.cost, x));
      }
    }
  }
  return best;
}

/// Small whole entries, some 0; every third program has uppers, the right-hand sides vary so much
/// that a part of the programs is infeasible.
Table random_table(std::uint64_t seed) {
  std::uint64_t draw = 0;
  const auto below = [&](std::uint64_t n) {
    return static_cast<double>(random_below(n, {seed, draw++}));
  };
  Table t;
  for (std::size_t j = 0; j < 3; ++j) {
    t.cost[j] = below(10);
    if (seed % 3 == 0) t.upper[j] = 1.0 + below(5);
  }
  const auto rows = [&](std::size_t count, double least, std::uint64_t spread) {
    std::vector<std::pair<Point, double>> result;
    for (std::size_t i = 0; i < count; ++i) {
      result.push_back({{below(4), below(4), below(4)}, least + below(spread)});
    }
    return result;
  };
  t.covering = rows(1 + seed % 2, 0.0, 30);
  t.packing = rows(1 + seed % 4, 3.0, 25);
  return t;
}

void expect_feasible(const Table& t, const std::vector<double>& x) {
  const Point p{x[0], x[1], x[2]};
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_GE(p[j], 0.0);
    EXPECT_LE(p[j], t.upper[j] * (1.0 + 1e-7));
  }
  for (const auto& [row, least] : t.covering) EXPECT_GE(dot(row, p), least * (1.0 - 1e-6));
  for (const auto& [row, most] : t.packing) EXPECT_LE(dot(row, p), most * (1.0 + 1e-6));
}

TEST(PackingCovering, agrees_with_the_cheapest_corner_of_random_programs) {
  int feasible = 0, infeasible = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    const Table t = random_table(seed);
    const double optimum = cheapest_corner(t);
    const PackingCoveringSolution s = solve(program_of(t));
    if (optimum == kInfinity) {
      ++infeasible;
      EXPECT_EQ(s.status, Status::infeasible);
      continue;
    }
    ++feasible;
    ASSERT_EQ(s.status, Status::optimal);
    EXPECT_NEAR(s.cost, optimum, 1e-5 * std::max(1.0, optimum));
    EXPECT_LE(s.bound, optimum + 1e-9 * std::max(1.0, optimum));
    EXPECT_GE(s.bound, optimum - 1e-5 * std::max(1.0, optimum));
    expect_feasible(t, s.x);
  }
  EXPECT_GT(feasible, 150);
  EXPECT_GT(infeasible, 100);
}

// x + y >= 4 at costs 1 and 3, x <= 3: 3 + 1, and the prices 3 and 2 prove it.
TEST(PackingCovering, prices_prove_the_bound) {
  Table t{{1, 3, 9}, {}, {{{1, 1, 0}, 4}}, {{{1, 0, 0}, 3}}};
  t.upper.fill(kInfinity);
  const PackingCoveringSolution s = solve(program_of(t));
  EXPECT_EQ(s.status, Status::optimal);
  EXPECT_NEAR(s.x[0], 3.0, 1e-6);
  EXPECT_NEAR(s.x[1], 1.0, 1e-6);
  EXPECT_NEAR(s.bound, 6.0, 1e-5);
  EXPECT_NEAR(s.covering_price[0], 3.0, 1e-4);
  EXPECT_NEAR(s.packing_price[0], 2.0, 1e-4);
}

// The demand is exactly the room: feasible; a thousandth more is not.
TEST(PackingCovering, tells_the_edge_from_beyond_it) {
  Table t{{2, 1, 1}, {}, {{{1, 1, 0}, 7}}, {{{1, 0, 0}, 3}, {{0, 1, 0}, 4}}};
  t.upper.fill(kInfinity);
  EXPECT_EQ(solve(program_of(t)).status, Status::optimal);
  EXPECT_NEAR(solve(program_of(t)).cost, 10.0, 1e-5);
  t.covering[0].second = 7.001;
  EXPECT_EQ(solve(program_of(t)).status, Status::infeasible);
  t.covering.push_back({{0, 0, 0}, 1.0});
  EXPECT_EQ(solve(program_of(t)).status, Status::infeasible);
}

// Negative costs and no covering row: a fractional knapsack. At most one value is fractional.
TEST(PackingCovering, solves_a_knapsack_at_a_vertex) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PackingCoveringProgram program;
    program.add_packing_row(10.0);
    std::vector<std::pair<double, double>> by_density;  // value per unit, size
    for (std::uint64_t j = 0; j < 40; ++j) {
      const double value = 1.0 + random_unit({seed, j, 0});
      const double size = 0.2 + random_unit({seed, j, 1});
      by_density.emplace_back(value / size, size);
      program.add_column({-value, {}, {{0, size}}, 1.0});
    }
    std::ranges::sort(by_density, std::greater());
    double room = 10.0, best = 0.0;
    for (const auto& [density, size] : by_density) {
      best += density * std::min(size, room);
      room -= std::min(size, room);
    }
    const PackingCoveringSolution s = solve(program);
    EXPECT_EQ(s.status, Status::optimal);
    EXPECT_NEAR(-s.cost, best, 1e-6);
    EXPECT_GE(-s.bound, best - 1e-9);
    EXPECT_LE(std::ranges::count_if(s.x, [](double x) { return x > 1e-9 && x < 1.0 - 1e-9; }), 1);
  }
}

// A slot of PD-ORS: 100 machines of four resources, 40 workers and 10 servers wanted.
TEST(PackingCovering, solves_a_slot_of_a_hundred_machines) {
  PackingCoveringProgram program;
  const std::size_t workers = program.add_covering_row(40.0);
  const std::size_t servers = program.add_covering_row(10.0);
  const std::size_t batch = program.add_packing_row(60.0);
  for (std::uint64_t h = 0; h < 100; ++h) {
    PackingCoveringProgram::Column worker{
        random_unit({h, 1}), {{workers, 1.0}}, {{batch, 1.0}}, kInfinity};
    PackingCoveringProgram::Column server{random_unit({h, 2}), {{servers, 1.0}}, {}, kInfinity};
    for (std::uint64_t r = 0; r < 4; ++r) {
      const std::size_t row = program.add_packing_row(1.0 + 20.0 * random_unit({h, r, 3}));
      worker.packing.push_back({row, 1.0 + random_unit({r, 4})});
      server.packing.push_back({row, 0.5 + random_unit({r, 5})});
    }
    program.add_column(worker);
    program.add_column(server);
  }
  const PackingCoveringSolution s = solve(program);
  EXPECT_EQ(s.status, Status::optimal);
  double sum = 0.0;
  for (std::size_t j = 0; j < s.x.size(); j += 2) sum += s.x[j];
  EXPECT_NEAR(sum, 40.0, 1e-4);
}

}  // namespace
}  // namespace berth::solver
