// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <queue>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/base/random.hpp"
#include "berth/generate/horizon.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::generate {
namespace {

using horizon::CostPiece;
using horizon::Gpus;
using horizon::Seconds;
using horizon::TaskGroup;

/// GPUs [low, high) in [from, to).
struct SheetPiece {
  std::int32_t low, high;
  Seconds from, to;
  std::size_t id;  ///< number of the cut that made it; breaks ties

  [[nodiscard]] Gpus gpus() const { return high - low; }
  [[nodiscard]] std::int64_t area() const { return gpus() * (to - from); }
  bool operator<(const SheetPiece& other) const {
    return area() != other.area() ? area() < other.area() : id > other.id;
  }
};

/// Cuts a piece in two, at the middle half of a side drawn in proportion to what can be cut.
std::array<SheetPiece, 2> cut(const SheetPiece& piece, std::uint64_t seed, std::size_t number) {
  std::array<SheetPiece, 2> parts{piece, piece};
  parts[0].id = 2 * number + 1;
  parts[1].id = 2 * number + 2;
  const Seconds length = piece.to - piece.from;
  const bool across = length == 1 || (piece.gpus() > 1 && random_below(2, {seed, number, 0}) == 0);
  const std::int64_t side = across ? piece.gpus() : length;
  const std::int64_t margin = std::max<std::int64_t>(1, side / 4);
  const auto choices = static_cast<std::uint64_t>(std::max<std::int64_t>(1, side - 2 * margin + 1));
  const auto at = margin + static_cast<std::int64_t>(random_below(choices, {seed, number, 1}));
  if (across) {
    parts[0].high = parts[1].low = piece.low + static_cast<std::int32_t>(at);
  } else {
    parts[0].to = parts[1].from = piece.from + at;
  }
  return parts;
}

std::vector<SheetPiece> cut_sheet(const ZeroWasteOptions& options) {
  std::priority_queue<SheetPiece> pieces;
  pieces.push({0, options.gpus, 0, options.length, 0});
  for (std::size_t number = 0; pieces.size() < options.jobs; ++number) {
    const SheetPiece largest = pieces.top();
    pieces.pop();
    for (const SheetPiece& part : cut(largest, options.seed, number)) pieces.push(part);
  }
  std::vector<SheetPiece> result;
  for (; !pieces.empty(); pieces.pop()) result.push_back(pieces.top());
  return result;
}

}  // namespace

ZeroWaste generate_zero_waste(const ZeroWasteOptions& options) {
  BERTH_EXPECT(options.jobs >= 1 && options.gpus >= 1);
  BERTH_EXPECT(static_cast<std::int64_t>(options.jobs) <= options.gpus * options.length);
  horizon::ProblemBuilder builder;
  const PoolId pool = builder.add_pool(horizon::CurveId(0), options.gpus, 1);
  const auto pools = builder.add_pool_set(std::array{pool});
  ZeroWaste result;
  for (const SheetPiece& piece : cut_sheet(options)) {
    if (random_unit({options.seed, piece.id, 2}) < options.windows) {
      for (std::int32_t gpu = piece.low; gpu < piece.high; ++gpu) {
        builder.add_outage(MachineId(gpu), piece.from, piece.to);
      }
      continue;
    }
    (void)builder.add_job(0, false);
    const auto worth = static_cast<double>(piece.area());
    const auto cost = builder.add_cost(
        std::array{CostPiece{0, -worth, 0.0}, CostPiece{options.length, 0.0, 0.0}});
    builder.add_option(pools, piece.to - piece.from,
                       std::array{TaskGroup{static_cast<std::int32_t>(piece.gpus()), 1}}, cost);
    result.optimum.starts.push_back({.option = 0, .pool = pool, .start = piece.from, .shares = {}});
  }
  result.problem = builder.build();
  return result;
}

}  // namespace berth::generate
