// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/machine_states.hpp"
#include "search/search_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify::search {

/// A node of the search: jobs before `depth` are decided.
struct Situation {
  std::size_t depth = 0;
  Room room = {};
  std::vector<std::int64_t> used = {};  ///< by QueueId: GPU thousandths of placed jobs with a quota
};

/// Upper bounds on what the undecided jobs of a situation can gain, by prices pi of tasks (kind,
/// GPU type) and lambda of quotas (Lagrangian relaxation: Geoffrion 1974):
///
///   sum over machines of V(state) + sum_q lambda_q max(0, left_q)
///     + sum over undecided jobs that fit of max(0, max_k [u_jk - pi tasks_j - lambda milli_j])
///
/// where V(state) is the largest price of tasks that a machine in that state can still hold.
class SearchBound {
 public:
  SearchBound(const SearchProblem& problem, const MachineStates& states);

  /// Adds prices found by a subgradient method for this situation. O(steps x edges).
  void add_prices(const Situation& at, int steps);
  [[nodiscard]] std::size_t prices() const { return vectors_.size(); }

  /// The least bound of the price vectors from `first` on; empty: a required job does not fit.
  [[nodiscard]] std::optional<Int128> bound(const Situation& at, std::size_t first) const;
  /// True when the job may fit this room, each group of tasks taken by itself.
  [[nodiscard]] bool may_fit(const SearchedJob& job, const Situation& at) const;

 private:
  struct PriceVector {
    std::vector<Int128> quota;   ///< by QueueId: per GPU thousandth
    std::vector<Int128> value;   ///< by state: V
    std::vector<Int128> profit;  ///< by job; of a required job also negative
  };
  struct Prices {
    std::vector<double> task;   ///< by kind and type, in units of the objective
    std::vector<double> quota;  ///< by QueueId: per GPU thousandth
  };
  struct DualEvaluation {
    double value = 0.0;
    Prices slope;  ///< supply less demand
  };

  [[nodiscard]] std::size_t row(KindId kind, GpuTypeId type) const {
    return kind * types_ + static_cast<std::size_t>(type.value() + 1);
  }
  [[nodiscard]] Prices first_prices() const;
  [[nodiscard]] DualEvaluation evaluate(const Situation& at, const Prices& prices) const;
  void add_machines(const Situation& at, const Prices& prices, DualEvaluation& sum) const;
  void add_job(const SearchedJob& job, const Prices& prices, DualEvaluation& sum) const;
  [[nodiscard]] PriceVector rounded(const Prices& prices) const;
  [[nodiscard]] Int128 profit_of(const SearchedJob& job, std::span<const Int128> task,
                                 std::span<const Int128> quota) const;
  [[nodiscard]] double real(Int128 amount) const;

  const SearchProblem& problem_;
  const MachineStates& states_;
  std::size_t types_;
  std::vector<std::optional<std::int64_t>> quotas_;
  std::vector<double> size_;  ///< by row: GPUs of a task, the unit of its price's steps
  Prices last_;               ///< best prices found last
  std::vector<PriceVector> vectors_;
};

}  // namespace berth::certify::search
