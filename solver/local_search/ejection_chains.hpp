// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/search_space.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/stop.hpp"

namespace berth::solver::local_search {

/// Ejection chains (Glover 1992): a job takes the place of cheaper ones, which are inserted
/// elsewhere in turn or stay out, while the total value rises. Prices say where to look (an ejected
/// job is expected to find its best priced profit elsewhere); the values alone decide what stays.
/// No job is placed where it would exceed a limit.
class EjectionChains {
 public:
  /// @param prices  by PoolId of the pool index
  EjectionChains(const SearchSpace& space, std::span<const double> prices);

  /// Sweeps over the jobs in order of regret until `most` chains were tried or two sweeps in a row
  /// gain nothing, or `stop` says so. Returns the value gained.
  double run(int most, const StopToken& stop = {});

 private:
  static constexpr std::uint32_t kNoPosition = ~std::uint32_t{0};

  /// Where a job could be inserted and what that seems to gain.
  struct Target {
    double gain;
    std::uint32_t option = 0;                             ///< index among the job's options
    std::vector<std::pair<MachineId, int>> machine_gpus;  ///< machine, whole GPUs wanted there
  };
  /// Cheapest ways to free whole GPUs on one machine: loss[d] for d = 1, 2, ...
  struct FreeingCosts {
    static constexpr std::uint32_t kStale = ~std::uint32_t{0};
    std::uint32_t version = kStale;  ///< of the machine's room
    std::vector<double> loss;
  };

  void add_required_bonus();
  void price_alternatives();
  void sweeps(int most, const StopToken& stop);
  [[nodiscard]] double total() const;                       ///< value of all jobs as placed
  [[nodiscard]] double profit(std::size_t position) const;  ///< where it is placed; 0 when unplaced
  [[nodiscard]] double loss(std::uint32_t position) const;  ///< when ejected
  [[nodiscard]] double cost(const model::JobPlacement& placement) const;
  [[nodiscard]] std::int64_t milli_of(std::uint32_t position) const {
    return space_.profile(position).milli;
  }
  [[nodiscard]] const JobEntry& entry(std::size_t position) const {
    return space_.occupancy.entries()[entries_[position]];
  }
  [[nodiscard]] bool is_placed(std::size_t position) const { return entry(position).is_placed(); }
  /// As placed, with the bonus; 0 when unplaced.
  [[nodiscard]] double value(std::size_t position) const {
    return is_placed(position) ? entry(position).value + required_bonus_[position] : 0.0;
  }
  [[nodiscard]] std::uint32_t position_of(JobId job) const;

  double try_chain(std::uint32_t position);
  double insert(std::uint32_t position, int depth);
  std::optional<Target> best_target(std::uint32_t position, int depth);
  void consider_machines(const assignment::PlaceClass& place_class, const assignment::TaskDemand& s,
                         Target candidate, double profit_free, int depth,
                         std::optional<Target>& best);
  void consider_domains(const assignment::PlaceClass& place_class, const assignment::TaskDemand& s,
                        Target candidate, double value, int depth, std::optional<Target>& best);
  double price_of(MachineId m) const;
  double freeing_cost(MachineId m, int gpus,
                      int depth);  ///< loss of having so many whole GPUs free there
  void solve_ejection_knapsack(MachineId m, std::vector<std::uint32_t>* victims, int wanted);
  double fill_idle_capacity(MachineId m);
  [[nodiscard]] double value_alone_on(std::uint32_t position, MachineId m) const;
  void rank_unplaced();

  void place(std::uint32_t position, model::JobPlacement placement);
  void unplace(std::uint32_t position);
  void record_unplaced(std::uint32_t position);
  [[nodiscard]] std::vector<MachineId> machines_touched(Occupancy::Mark mark) const;

  [[nodiscard]] std::optional<double> surcharge(std::uint32_t position) const {
    return space_.occupancy.limit_usage().surcharge(space_.jobs[position]);
  }
  [[nodiscard]] double surcharges() const { return space_.occupancy.limit_usage().surcharges(); }
  [[nodiscard]] bool respects_limits(const model::JobPlacement& placement) const;

  SearchSpace space_;
  std::vector<std::uint32_t> entries_;    ///< by position: among the entries of the occupancy
  std::vector<std::uint32_t> positions_;  ///< by JobId less that of the first job
  std::vector<double> prices_;
  std::vector<double> required_bonus_;       ///< by position: what being required adds
  std::vector<double> best_priced_profit_;   ///< by position: best priced profit anywhere, >= 0
  std::vector<FreeingCosts> freeing_costs_;  ///< by MachineId
  std::vector<std::uint32_t>
      last_chain_;                     ///< by position: chain that moved it, and does not eject it
  std::vector<std::uint32_t> ranked_;  ///< positions by best value per GPU, then precedence
  std::vector<std::uint32_t> rank_;    ///< by position: where it stands in ranked_, if anywhere
  std::map<std::int64_t, std::set<std::uint32_t>>
      unplaced_by_size_;        ///< by size: ranks of unplaced jobs
  MachineId excluded_machine_;  ///< the chain's first job leaves it and must not return
  std::uint32_t chain_ = 0;
  int ejections_left_ = 0;  ///< jobs this chain may still eject
  std::uint64_t sweep_ = 0;
};

}  // namespace berth::solver::local_search
