// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/cyclic_exchange.hpp"
#include "local_search/search_space.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/stop.hpp"

namespace berth::solver::local_search {

/// Repartitions one machine (one place for a large job becomes several for small ones, or the other
/// way round) when the marginal values of one place more or less, as measured by cyclic exchanges,
/// predict a gain: a knapsack over the kinds of places finds the best change of counts. Only jobs
/// that are placed on one machine with whole GPUs take part.
class MachineRepartition {
 public:
  explicit MachineRepartition(const SearchSpace& space);

  /// Exchanges, then sweeps over the machines until `most` repartitions were tried, a sweep gains
  /// nothing or `stop` says so. Returns the value gained.
  double run(int most, const StopToken& stop = {});

 private:
  static constexpr std::size_t kMaxSinglePlaces =
      8;  ///< places of one GPU more or fewer in a repartition
  /// Of one place more (or less), of a second, ...
  struct MarginalValues {
    std::array<double, kMaxSinglePlaces> of{};
    std::size_t count = 0;

    void fill(std::size_t places, double worth) { count = places, of.fill(worth); }
  };
  /// Places of one task profile on the machine at hand.
  struct PlaceKind {
    std::size_t exchange;
    std::uint32_t node;
    int gpus, here;  ///< GPUs of a place; places it has now
    MarginalValues more = {}, less = {};
  };
  using CountChange = std::vector<int>;  ///< by kind: places more (or fewer)
  struct BestChange {
    double gain = 0.0;
    CountChange change;
  };

  double try_machine(MachineId m);
  /// A repartition is measured through all jobs alike, and there is a machine for each: in a room
  /// of n times 16,384 GPUs so many repartitions take n^2 times as long, and so many fewer are
  /// tried.
  [[nodiscard]] int scaled_limit(int most) const;
  [[nodiscard]] std::vector<PlaceKind> kinds_on(MachineId m);
  [[nodiscard]] BestChange best_change(std::span<const PlaceKind> kinds, int idle, int capacity);
  double apply(MachineId m, std::vector<PlaceKind>& kinds, const BestChange& found);
  double add_place(MachineId m, const PlaceKind& kind);
  double remove_place(MachineId m, const PlaceKind& kind);
  void roll_back(std::span<const PlaceKind> kinds, Occupancy::Mark mark);
  [[nodiscard]] int capacity_of(MachineId m) const {
    return space_.instance().cluster.class_of(m).gpus;
  }

  SearchSpace space_;
  std::vector<CyclicExchange> exchanges_;
  std::vector<int> gpus_;  ///< by exchange; 0: takes no part
  std::map<MachineId, std::map<std::size_t, int>>
      places_;                       ///< by machine: exchange, how many places
  int tries_left_ = 0;               ///< repartitions that may still be tried
  std::vector<double> best_, next_;  ///< of a knapsack, by GPUs used more (or fewer)
  std::vector<signed char> chosen_;  ///< by kind, then the same
};

}  // namespace berth::solver::local_search
