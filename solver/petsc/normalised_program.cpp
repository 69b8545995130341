// SPDX-License-Identifier: Apache-2.0
#include "normalised_program.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/infinity.hpp"

namespace berth::solver {
namespace {

using Row = std::vector<std::pair<std::size_t, double>>;

struct Limit {
  double value;
  bool needs_row;  ///< no packing row implies it, and the cost alone does not keep x from it
};

/// Largest x_j of some optimum: by its packing rows and u, and with a cost no more than covers its
/// rows alone.
Limit limit_of(const PackingCoveringProgram& program, const PackingCoveringProgram::Column& c) {
  double packed = kInfinity;
  for (const auto& [row, b] : c.packing) {
    if (b > 0.0) packed = std::min(packed, program.packing()[row] / b);
  }
  double useful = c.cost < 0.0 ? kInfinity : 0.0;
  for (const auto& [row, a] : c.covering) {
    if (a > 0.0) useful = std::max(useful, program.covering()[row] / a);
  }
  const double limit = std::min({packed, c.upper, useful});
  BERTH_ENSURE(limit < kInfinity);
  return {limit, std::min(c.upper, c.cost > 0.0 ? kInfinity : useful) < packed};
}

/// True if row `other` implies `row`: no smaller entry anywhere. Both ascending by column.
bool implies(const Row& other, const Row& row) {
  auto at = other.begin();
  for (const auto& [column, b] : row) {
    while (at != other.end() && at->first < column) ++at;
    if (at == other.end() || at->first != column || at->second < b) return false;
  }
  return true;
}

/// Drops rows that another row of the same columns implies; of equal rows the first stays.
void drop_implied(NormalisedProgram& n) {
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> kept_by_columns;
  std::vector<char> kept(n.packing_row.size(), 1);
  for (std::size_t i = 0; i < n.packing_row.size(); ++i) {
    std::vector<std::size_t> columns;
    for (const auto& [column, b] : n.packing_row[i]) columns.push_back(column);
    auto& group = kept_by_columns[columns];
    const auto implied = [&](std::size_t k) { return implies(n.packing_row[k], n.packing_row[i]); };
    if (columns.empty() || std::ranges::any_of(group, implied)) {
      kept[i] = 0;
      continue;
    }
    std::erase_if(group, [&](std::size_t k) {
      const bool drop = implies(n.packing_row[i], n.packing_row[k]);
      if (drop) kept[k] = 0;
      return drop;
    });
    group.push_back(i);
  }
  std::size_t to = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == 0) continue;
    if (to != i) n.packing_row[to] = std::move(n.packing_row[i]);
    n.packing[to++] = n.packing[i];
  }
  n.packing_row.resize(to);
  n.packing.resize(to);
}

}  // namespace

NormalisedProgram normalise(const PackingCoveringProgram& program) {
  NormalisedProgram n;
  std::vector<Row> covering(program.covering().size()), packing(program.packing().size());
  std::vector<std::pair<std::size_t, Row>> upper;
  for (std::size_t j = 0; j < program.columns().size(); ++j) {
    const PackingCoveringProgram::Column& c = program.columns()[j];
    const auto [limit, needs_row] = limit_of(program, c);
    n.limit.push_back(limit);
    if (limit <= 0.0) continue;
    const std::size_t here = n.column.size();
    n.column.push_back(j);
    for (const auto& [row, a] : c.covering) {
      const double least = program.covering()[row];
      if (a > 0.0 && least > 0.0) covering[row].emplace_back(here, a * limit / least);
    }
    for (const auto& [row, b] : c.packing) {
      if (b > 0.0) packing[row].emplace_back(here, b * limit / program.packing()[row]);
    }
    if (needs_row) upper.emplace_back(j, Row{{here, 1.0}});
  }
  for (std::size_t i = 0; i < covering.size(); ++i) {
    if (program.covering()[i] <= 0.0) continue;
    if (covering[i].empty()) n.covers = false;
    n.covering.push_back(i);
    n.covering_row.push_back(std::move(covering[i]));
  }
  for (std::size_t i = 0; i < packing.size(); ++i) {
    n.packing.push_back(i);
    n.packing_row.push_back(std::move(packing[i]));
  }
  for (auto& [column, row] : upper) {
    n.packing.push_back(NormalisedProgram::kUpper + column);
    n.packing_row.push_back(std::move(row));
  }
  drop_implied(n);
  return n;
}

LinearProgram share_program(const NormalisedProgram& program, std::span<const double> cost,
                            double share_value, double most_share) {
  using Entries = std::vector<std::pair<std::int32_t, double>>;
  std::vector<Entries> columns(program.column.size());
  Entries share;
  std::int32_t row = 0;
  for (const Row& r : program.covering_row) {
    for (const auto& [column, a] : r) columns[column].emplace_back(row, -a);
    share.emplace_back(row++, 1.0);
  }
  LinearProgram lp;
  lp.rhs.assign(program.covering_row.size(), 0.0);
  for (const Row& r : program.packing_row) {
    for (const auto& [column, b] : r) columns[column].emplace_back(row, b);
    lp.rhs.push_back(1.0);
    ++row;
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::size_t j = program.column[k];
    lp.add_column(-cost[j] * program.limit[j], columns[k]);
  }
  lp.max_sum = static_cast<double>(columns.size()) + most_share;
  if (!share.empty()) {
    share.emplace_back(row, 1.0);
    lp.rhs.push_back(most_share);
    lp.add_column(share_value, share);
  }
  return lp;
}

}  // namespace berth::solver
