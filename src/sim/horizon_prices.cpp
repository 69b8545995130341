// SPDX-License-Identifier: Apache-2.0
#include "horizon_prices.hpp"

#include <algorithm>
#include <cmath>

#include "berth/solver/class_prices.hpp"

namespace berth::sim {
namespace {

using policy::Micros;
using policy::State;

constexpr double kMilli = 1000.0;

}  // namespace

bool HorizonPrices::due(const State& state, std::size_t present) {
  changes_ += state.arrived().size() + state.ended().size();
  const bool changed = static_cast<double>(changes_) >=
                       options_.change * static_cast<double>(std::max<std::size_t>(present, 1));
  return changed || state.now() - since_ >= options_.refresh;
}

PriceRound HorizonPrices::begin_round(const State& state, std::int64_t jobs) {
  since_ = state.now();
  changes_ = 0;
  curves_.clear();
  bound_ = {};
  return {.time = state.now(), .jobs = jobs};
}

PriceRound HorizonPrices::refresh(const State& state, const PresentClasses& present) {
  PriceRound round = begin_round(state, present.jobs);
  if (present.jobs == 0) return round;
  bound_ = solver::price_classes(present.classes, present.pieces);
  make_curves();
  round.evaluations = bound_.evaluations;
  round.cost = bound_.list_cost;
  const double priced =
      present.merged ? solver::exact_dual(present.least, bound_.grid, bound_.ends) : bound_.bound;
  round.bound = std::max(priced, present.alone);
  return round;
}

PriceRound HorizonPrices::refresh(const State& state, const PresentProblem& present) {
  PriceRound round = begin_round(state, std::ssize(present.jobs));
  if (present.jobs.empty()) return round;
  bound_ = solver::bound_horizon(present.problem, {.intervals = 24,
                                                   .temperatures = {1e-4, 1e-5},
                                                   .iterations = 12,
                                                   .flat_start = false,
                                                   .large_gangs = false});
  make_curves();
  round.evaluations = bound_.evaluations;
  round.cost = bound_.list_cost;
  round.bound = bound_.bound;
  return round;
}

void HorizonPrices::make_curves() {
  if (bound_.grid.empty()) return;
  const std::size_t count = 2 * (bound_.grid.size() - 1);
  for (std::size_t first = 0; first < bound_.ends.size(); first += count) {
    curves_.emplace_back(bound_.grid, std::span(bound_.ends).subspan(first, count));
  }
}

void HorizonPrices::restore(ByteReader& reader) {
  reader(bound_.grid, bound_.ends, since_, changes_);
  make_curves();
}

double HorizonPrices::rent(GpuTypeId type, Micros now, double from, double to) const {
  if (curves_.empty() || !type.valid()) return 0.0;
  const double age = static_cast<double>(now - since_) / static_cast<double>(policy::kSecond);
  return kMilli * curves_[type.index()].rent(age + from, age + to);
}

std::vector<double> HorizonPrices::waits(Micros now) const {
  const double age = static_cast<double>(now - since_) / static_cast<double>(policy::kSecond);
  std::vector<double> waits{0.0};
  if (curves_.empty()) return waits;
  for (const horizon::Seconds node : bound_.grid) {
    if (static_cast<double>(node) > age) waits.push_back(static_cast<double>(node) - age);
  }
  return waits;
}

}  // namespace berth::sim
