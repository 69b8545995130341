// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"
#include "assignment/placement_table.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/stop.hpp"

namespace berth::solver::local_search {

/// Ejection chains over the placements of an option table. Prices say where to look (a job that is
/// pushed out is expected to find its best priced profit elsewhere); the values alone decide what
/// stays. No job is put where it would pass a quota or an uplink.
class Chains {
 public:
  /// @param prices  by PoolId of the free pools' pool index
  Chains(const model::Valuation& valuation, const assignment::OptionTable& option_table,
         assignment::FreePools& free_pools, assignment::PlacementTable& placements,
         std::span<const double> prices);

  /// Sweeps over the jobs in order of regret until `most` chains were tried or two sweeps in a row
  /// gain nothing, or `stop` says so. Returns the value gained.
  double run(int most, const StopToken& stop = {});

 private:
  /// Where a job would go and what that seems to be worth.
  struct Target {
    double gain;
    std::uint32_t option = 0;                      ///< index among the job's options
    std::vector<std::pair<MachineId, int>> spots;  ///< machine, whole GPUs wanted there
  };
  /// Cheapest ways to free whole GPUs on one machine: loss[d] for d = 1, 2, ...
  struct Bids {
    bool stale = true;
    std::vector<double> loss;
  };

  void award_bonus();
  void measure_alternatives();
  void sweeps(int most, const StopToken& stop);
  [[nodiscard]] double total() const;                       ///< value of all jobs as placed
  [[nodiscard]] double profit(std::size_t position) const;  ///< where it lies now; 0 outside
  [[nodiscard]] double loss(std::uint32_t position) const;  ///< when pushed out
  [[nodiscard]] double cost(const model::JobPlacement& placement) const;
  [[nodiscard]] std::int64_t milli_of(std::uint32_t position) const {
    return option_table_->profiles()[option_table_->profile_of(position)].milli;
  }
  [[nodiscard]] int gpus_on(std::uint32_t position, MachineId machine) const;

  double try_chain(std::uint32_t position);
  double insert(std::uint32_t position, int depth);
  std::optional<Target> best_target(std::uint32_t position, int depth);
  void offer_machines(const assignment::PlaceClass& place_class, const assignment::TaskProfile& s,
                      Target offer, double profit_free, int depth, std::optional<Target>& best);
  void offer_domains(const assignment::PlaceClass& place_class, const assignment::TaskProfile& s,
                     Target offer, double value, int depth, std::optional<Target>& best);
  double price_of(MachineId m) const;
  double freeing(MachineId m, int gpus, int depth);  ///< loss of having so many whole GPUs free
  void rebuild(MachineId m, std::vector<std::uint32_t>* victims, int wanted);
  double fill_idle(MachineId m);
  [[nodiscard]] double value_on(std::uint32_t position, MachineId m) const;
  void rank_outside();

  void put(std::uint32_t position, model::JobPlacement placement);
  void lift(std::uint32_t position);
  void remember(std::uint32_t position);
  void roll_back();

  [[nodiscard]] std::optional<double> surcharge(std::uint32_t position) const;
  [[nodiscard]] double surcharges() const;
  [[nodiscard]] bool may_lie(const model::JobPlacement& placement) const;

  const model::Valuation* valuation_;
  const assignment::OptionTable* option_table_;
  assignment::FreePools* free_pools_;
  assignment::PlacementTable* placements_;
  std::vector<double> prices_;
  std::vector<double> bonus_;      ///< by position: what being required adds
  std::vector<double> value_;      ///< by position: as placed, with the bonus; 0 outside
  std::vector<double> elsewhere_;  ///< by position: best priced profit anywhere, >= 0
  std::vector<std::vector<std::uint32_t>> on_;  ///< by MachineId: positions with a task there
  std::vector<Bids> bids_;                      ///< by MachineId
  std::vector<std::pair<std::uint32_t, model::JobPlacement>> before_;  ///< of this chain
  std::vector<MachineId> touched_;                                     ///< by this chain
  std::vector<std::uint32_t> mark_;    ///< by position: chain that remembers it
  std::vector<std::uint32_t> ranked_;  ///< positions by best value per GPU
  std::vector<std::uint32_t> rank_;    ///< by position: where it stands in ranked_, if anywhere
  std::map<std::int64_t, std::set<std::uint32_t>> outside_;  ///< by size: ranks of jobs outside
  MachineId left_;  ///< the chain's own job comes from there: it must go elsewhere
  std::uint32_t chain_ = 0;
  int budget_ = 0;  ///< jobs this chain may still push out
  std::uint64_t sweep_ = 0;
};

}  // namespace berth::solver::local_search
