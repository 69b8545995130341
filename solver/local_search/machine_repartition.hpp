// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"
#include "assignment/placement_table.hpp"
#include "local_search/cyclic_exchange.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/stop.hpp"

namespace berth::solver::local_search {

/// Cuts machines anew: one place for a large job becomes several for small ones, or the other way
/// round, where that gains by what trades say more and fewer places of each kind are worth in the
/// whole neighbourhood. Only jobs that lie alone on one machine with whole GPUs take part.
class Recut {
 public:
  Recut(const model::Valuation& valuation, const assignment::OptionTable& option_table,
        assignment::FreePools& free_pools, assignment::PlacementTable& placements);

  /// Trades, then sweeps over the machines until `most` cuts were tried, a sweep gains nothing or
  /// `stop` says so. Returns the value gained.
  double run(int most, const StopToken& stop = {});

 private:
  static constexpr std::size_t kMostSingle = 8;  ///< places of one GPU more or fewer in a cut
  /// Of one place more (or fewer), of a second, ...
  struct Worths {
    std::array<double, kMostSingle> of{};
    std::size_t count = 0;

    void fill(std::size_t places, double worth) { count = places, of.fill(worth); }
  };
  /// Places of one task profile on the machine at hand.
  struct Kind {
    std::size_t exchange;
    std::uint32_t node;
    int gpus, here;  ///< GPUs of a place; places it has now
    Worths more = {}, less = {};
  };
  using Cut = std::vector<int>;  ///< by kind: places more (or fewer)
  struct Found {
    double gain = 0.0;
    Cut cut;
  };

  double try_machine(MachineId m);
  /// A cut is measured through all jobs alike, and there is a machine for each: in a room of n
  /// times 16,384 GPUs so many cuts take n^2 times as long, and so many fewer are tried.
  [[nodiscard]] int affordable(int most) const;
  [[nodiscard]] std::vector<Kind> kinds_on(MachineId m);
  [[nodiscard]] Found best_cut(std::span<const Kind> kinds, int idle, int capacity);
  double carry_out(MachineId m, std::vector<Kind>& kinds, const Found& found);
  double add(MachineId m, const Kind& kind);
  double remove(MachineId m, const Kind& kind);
  void take_back(std::span<const Kind> kinds);

  const model::Valuation* valuation_;
  assignment::FreePools* free_pools_;
  assignment::PlacementTable* placements_;
  std::vector<CyclicExchange> exchanges_;
  std::vector<int> gpus_;                                   ///< by trade; 0: takes no part
  std::map<MachineId, std::map<std::size_t, int>> places_;  ///< on the free pools: trade, how many
  std::vector<std::pair<bool, model::JobPlacement>> journal_;  ///< taken or released
  int left_ = 0;                                               ///< cuts that may still be tried
  std::vector<double> best_, next_;  ///< of a knapsack, by GPUs used more (or fewer)
  std::vector<signed char> chosen_;  ///< by kind, then the same
};

}  // namespace berth::solver::local_search
