// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "berth/base/infinity.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/solver/price_curve.hpp"

namespace berth::solver::horizon_plan {

/// A job's choice of its start on one curve: F(t) = f(t + d) + n (Lambda(t + d) - Lambda(t)).
struct StartQuery {
  double earliest = 0.0;
  double latest = kInfinity;  ///< deadline - duration
  double duration = 1.0;
  double gpus = 0.0;
  std::span<const berth::horizon::CostPiece> cost;
};

/// The least F on one piece, and where.
struct StartPiece {
  double start = 0.0;
  double cost = 0.0;           ///< F(start)
  std::size_t interval = 0;    ///< of the start
  std::size_t completion = 0;  ///< interval of start + duration
};

/// Walks along the starts from `earliest`; on each piece between neighbouring breakpoints (nodes,
/// nodes - d, breakpoints of f - d) F is a quadratic.
class StartWalk {
 public:
  StartWalk(const PriceCurve& curve, const StartQuery& query)
      : curve_(curve), query_(query), start_(query.earliest) {
    at_ = curve.interval_of(start_);
    ahead_ = curve.interval_of(start_ + query.duration);
    while (next_cost() < start_ + query.duration) ++cost_;
    find_end();
  }

  [[nodiscard]] bool done() const { return done_ || start_ > query_.latest; }
  /// The completion cost at the piece's start: no later start costs less.
  [[nodiscard]] double completion_cost() const {
    const berth::horizon::CostPiece& piece = query_.cost[cost_];
    const double past = start_ + query_.duration - static_cast<double>(piece.after);
    return piece.cost + piece.slope * past;
  }

  [[nodiscard]] StartPiece piece() const {
    const double completion = start_ + query_.duration;
    const double rent = curve_.integral(ahead_, completion) - curve_.integral(at_, start_);
    const double rent_rate = curve_.price(ahead_, completion) - curve_.price(at_, start_);
    const double rate = query_.cost[cost_].slope + query_.gpus * rent_rate;
    const double curvature = query_.gpus * (curve_.slope(ahead_) - curve_.slope(at_));
    const double length = end_ - start_;
    double best = 0.0;
    if (length < kInfinity) {  // the last piece never falls
      if (rate + 0.5 * curvature * length < 0.0) best = length;
      if (curvature > 0.0 && rate < 0.0) best = std::min(length, -rate / curvature);
    }
    const double change = best * (rate + 0.5 * curvature * best);
    return {start_ + best, completion_cost() + query_.gpus * rent + change, at_, ahead_};
  }

  /// To the next piece. The pieces end where prices do: later starts pay no rent and cost no less.
  void advance() {
    done_ = at_ == curve_.intervals() || end_ >= query_.latest;
    if (done_) return;
    start_ = end_;
    if (curve_.end_of(at_) <= start_) ++at_;
    if (curve_.end_of(ahead_) <= start_ + query_.duration) ++ahead_;
    if (next_cost() <= start_ + query_.duration) ++cost_;
    find_end();
  }

 private:
  /// Completion after which the next piece of the cost holds.
  [[nodiscard]] double next_cost() const {
    return cost_ + 1 < query_.cost.size() ? static_cast<double>(query_.cost[cost_ + 1].after)
                                          : kInfinity;
  }
  void find_end() {
    const double completion = std::min(curve_.end_of(ahead_), next_cost());
    end_ = std::min({curve_.end_of(at_), completion - query_.duration, query_.latest});
  }

  const PriceCurve& curve_;
  StartQuery query_;
  double start_;
  double end_ = 0.0;
  bool done_ = false;
  std::size_t at_ = 0;     ///< interval of the start
  std::size_t ahead_ = 0;  ///< interval of the completion
  std::size_t cost_ = 0;   ///< piece of the cost
};

/// Calls visit(piece) for the pieces in order of start: at most 2 K + S + 2, O(1) each (K
/// intervals, S pieces of cost). `visit` returns the cost above which pieces do not matter: the
/// walk ends when completing alone costs more.
template <class Visit>
void visit_start_pieces(const PriceCurve& curve, const StartQuery& query, Visit&& visit) {
  double limit = kInfinity;
  for (StartWalk walk(curve, query); !walk.done(); walk.advance()) {
    if (walk.completion_cost() > limit) return;
    limit = visit(walk.piece());
  }
}

}  // namespace berth::solver::horizon_plan
