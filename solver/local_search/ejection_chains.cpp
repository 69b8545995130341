// SPDX-License-Identifier: Apache-2.0
#include "local_search/ejection_chains.hpp"

#include "local_search/ejection_targets.hpp"
#include "local_search/machines_of.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::solver::local_search {

using model::JobPlacement;

namespace {
constexpr int kMaxDepth = 3;  ///< levels at which inserted jobs eject others; chosen, not tuned
constexpr int kMaxEjections = 24;                     ///< ejections per chain; chosen, not tuned
constexpr std::uint32_t kNoRank = ~std::uint32_t{0};  ///< a job of value 0

template <SearchState State>
class EjectionChains {
 public:
  EjectionChains(const SearchSpace<State>& space, std::span<const double> prices)
      : space_(space), targets_(space, prices) {
    rank_unplaced();
  }

  [[nodiscard]] double run(int most, const StopToken& stop) {
    const double before = total() - surcharges();
    sweeps(most, stop);
    return total() - surcharges() - before;
  }

 private:
  void sweeps(int most, const StopToken& stop) {
    for (int tried = 0, fruitless = 0; tried < most && fruitless < 2;) {
      std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> order;  // then rank, position
      for (std::uint32_t i = 0; i < space_.jobs.size(); ++i) {
        const double regret = targets_.regret(i);
        if (space_.option_table.options(i).empty() || regret <= 1e-6) continue;
        order.emplace_back(-regret, space_.ranks[i], i);
      }
      std::ranges::sort(order);
      double sweep = 0.0;
      for (const auto& [regret, rank, position] : order) {
        if (stop.requested()) return;
        if (tried++ == most) break;
        sweep += try_chain(position);
      }
      fruitless = sweep > 0.0 ? 0 : fruitless + 1;
      targets_.start_sweep();
      if (order.empty()) break;
    }
  }

  [[nodiscard]] double total() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < space_.jobs.size(); ++i) sum += targets_.entry(i).value;
    return sum;
  }

  double try_chain(std::uint32_t position) {
    targets_.start_chain();
    ejections_left_ = kMaxEjections;
    const auto mark = space_.state.mark();
    double change = surcharges();
    if (targets_.is_placed(position)) {
      targets_.note_move(position);
      change -= targets_.value(position);
      targets_.note_vacated(targets_.entry(position).placement);
      unplace(position);
    }
    change += insert(position, kMaxDepth);
    const std::vector<MachineId> machines =
        machines_of_changes(std::as_const(space_.state), space_.state.changes_since(mark));
    for (const MachineId m : machines) change += fill_idle_capacity(m);
    change -= surcharges();
    const bool better = change > 1e-9;
    if (better) {
      space_.state.keep(mark);
    } else {
      std::vector<JobId> moved;
      for (const auto& c : space_.state.changes_since(mark)) moved.push_back(c.job);
      space_.state.roll_back(mark);
      for (const JobId job : moved) record_unplaced(targets_.position_of(job));
    }
    // The jobs of this chain may be ejected again.
    for (const MachineId m : machines) targets_.forget_costs(m);
    return better ? change : 0.0;
  }

  /// Places the unplaced job where the gain is largest and ejects others; these are inserted again
  /// with `depth` - 1. Returns the change of value.
  double insert(std::uint32_t position, int depth) {
    const auto target = targets_.best(position, ejections_left_ > 0 ? depth : 0);
    targets_.forget_vacated();
    if (!target || target->gain <= 0.0) return 0.0;
    double change = 0.0;
    std::vector<std::uint32_t> victims;
    targets_.note_move(position);
    for (const auto& [machine, gpus] : target->machine_gpus) {
      const int missing = gpus - targets_.usable_gpus(position, machine);
      if (missing <= 0) continue;
      for (const std::uint32_t v : targets_.victims(machine, missing)) {
        targets_.note_move(v);
        change -= targets_.value(v);
        unplace(v);
        victims.push_back(v);
        --ejections_left_;
      }
    }
    std::vector<MachineId> machines;
    for (const auto& machine_tasks : target->machine_gpus) machines.push_back(machine_tasks.first);
    auto placed = space_.state.fit(space_.jobs[position], machines);
    if (placed && surcharge(position)) {
      place(position, std::move(*placed));
      change += targets_.value(position);
    }
    std::ranges::sort(victims, [&](std::uint32_t a, std::uint32_t b) {
      return targets_.milli_of(a) != targets_.milli_of(b)
                 ? targets_.milli_of(a) > targets_.milli_of(b)
                 : space_.ranks[a] < space_.ranks[b];
    });
    for (const std::uint32_t v : victims) change += insert(v, depth - 1);
    return change;
  }

  /// Fills the capacity that a chain left idle on the machine with unplaced jobs, by descending
  /// value per GPU.
  double fill_idle_capacity(MachineId m) {
    double gained = 0.0;
    for (;;) {
      const std::int64_t idle = space_.state.room().free_milli(m);
      double best = 0.0;
      std::uint32_t chosen = 0;
      for (const auto& [milli, ranks] : unplaced_by_size_) {
        if (milli > idle) break;
        for (const std::uint32_t r : ranks) {
          const std::uint32_t i = ranked_[r];
          const double size = static_cast<double>(milli);
          if (space_.option_table.options(i).front().value <= best * size) break;
          double worth = value_alone_on(i, m) / size;
          if (worth <= best) continue;
          const auto extra = surcharge(i);
          if (!extra) continue;
          worth -= *extra / size;
          if (worth > best) best = worth, chosen = i;
        }
      }
      if (best == 0.0) return gained;
      auto placed = space_.state.fit(space_.jobs[chosen], std::span(&m, 1));
      if (!placed) return gained;
      place(chosen, std::move(*placed));
      gained += targets_.value(chosen);
    }
  }

  /// The job's value with all tasks on this machine; 0 if it may not or cannot be placed there.
  [[nodiscard]] double value_alone_on(std::uint32_t position, MachineId m) const {
    const model::Cluster& cluster = space_.instance().cluster;
    const GpuTypeId type = cluster.class_of(m).gpu_type;
    for (const assignment::Option& c : space_.option_table.options(position)) {  // best first
      const assignment::PlaceClass& place_class =
          space_.option_table.place_classes()[c.place_class];
      if (place_class.type != type) continue;
      const assignment::TaskDemand& s = space_.option_table.profile(place_class);
      if (s.job_fits[cluster.machine_class[m.index()].index()] == 0) continue;
      const std::int32_t domain = place_class.scope == model::Level::cluster ? 0
                                  : place_class.scope == model::Level::pod
                                      ? cluster.pod_of(m).value()
                                      : cluster.machine_rack[m.index()].value();
      if (place_class.domain == domain) return c.value;
    }
    return 0.0;
  }

  /// Ranks the jobs by their best value per GPU. Jobs of value 0 have no rank; they may be placed
  /// all the same, in idle room.
  void rank_unplaced() {
    const auto worth = [&](std::uint32_t i) {
      return space_.option_table.options(i).front().value /
             static_cast<double>(targets_.milli_of(i));
    };
    for (std::uint32_t i = 0; i < space_.jobs.size(); ++i) {
      if (!space_.option_table.options(i).empty()) ranked_.push_back(i);
    }
    std::ranges::sort(ranked_, [&](std::uint32_t a, std::uint32_t b) {
      return worth(a) != worth(b) ? worth(a) > worth(b) : space_.ranks[a] < space_.ranks[b];
    });
    rank_.assign(space_.jobs.size(), kNoRank);
    for (std::uint32_t r = 0; r < ranked_.size(); ++r) {
      rank_[ranked_[r]] = r;
      if (!targets_.is_placed(ranked_[r]))
        unplaced_by_size_[targets_.milli_of(ranked_[r])].insert(r);
    }
  }

  /// Keeps the sizes of unplaced jobs up to date.
  void record_unplaced(std::uint32_t position) {
    if (rank_[position] == kNoRank) return;
    std::set<std::uint32_t>& ranks = unplaced_by_size_[targets_.milli_of(position)];
    if (targets_.is_placed(position)) {
      ranks.erase(rank_[position]);
    } else {
      ranks.insert(rank_[position]);
    }
  }

  void place(std::uint32_t position, JobPlacement placement) {
    space_.state.take(std::move(placement));
    record_unplaced(position);
  }

  void unplace(std::uint32_t position) {
    space_.state.give_back(space_.jobs[position]);
    record_unplaced(position);
  }

  [[nodiscard]] std::optional<double> surcharge(std::uint32_t position) const {
    return space_.state.limit_usage().surcharge(space_.jobs[position]);
  }
  [[nodiscard]] double surcharges() const { return space_.state.limit_usage().surcharges(); }

  SearchSpace<State> space_;
  EjectionTargets<State> targets_;
  std::vector<std::uint32_t> ranked_;  ///< positions by best value per GPU, then precedence
  std::vector<std::uint32_t> rank_;    ///< by position: index in ranked_, or kNoRank
  std::map<std::int64_t, std::set<std::uint32_t>>
      unplaced_by_size_;    ///< by size: ranks of unplaced jobs
  int ejections_left_ = 0;  ///< jobs this chain may still eject
};

}  // namespace

template <SearchState State>
double run_ejection_chains(const SearchSpace<State>& space, std::span<const double> prices,
                           int most, const StopToken& stop) {
  return EjectionChains<State>(space, prices).run(most, stop);
}

template double run_ejection_chains(const SearchSpace<Occupancy>&, std::span<const double>, int,
                                    const StopToken&);

}  // namespace berth::solver::local_search
