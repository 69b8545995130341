// SPDX-License-Identifier: Apache-2.0
#include "gang_selection.hpp"

#include "dual_bound.hpp"

#include <algorithm>
#include <map>

#include "berth/planner_model/precedence.hpp"

namespace berth::solver {
namespace {

/// Jobs on either side of the break item that the knapsack decides, and the most places that it
/// divides. Chosen, not tuned.
constexpr std::size_t kCore = 24;
constexpr std::int64_t kCorePlaces = 4096;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Gang {
  struct Need {
    ShapeId shape;
    std::size_t type;  ///< job type
    std::int64_t tasks;
    bool on_gpus;
  };
  planner_model::Precedence precedence = {};  ///< by the largest value
  std::vector<Need> needs = {};               ///< ascending job type
  std::vector<double> value = {};             ///< of the job by slot, not scaled; < 0: not allowed
  std::size_t slot = kNone;                   ///< where it is selected

  [[nodiscard]] JobId job() const { return precedence.job; }
};

class GangSelection {
 public:
  GangSelection(const PackingProblem& problem, const planner_model::Valuation& valuation,
                const std::vector<PlaceCounts>& places)
      : problem_(problem), share_(places) {
    for (std::size_t t = 0; t < places.size(); ++t) {
      const JobType& type = problem.types[t];
      PlaceCounts& free = free_[type.shape_id];
      slots_ = std::max(slots_, places[t].size());
      free.resize(std::max(free.size(), places[t].size()), 0);
      for (std::size_t s = 0; s < places[t].size(); ++s) free[s] += places[t][s];
    }
    add_gangs(valuation);
  }

  std::vector<SelectedJob> run() {
    if (slots_ > 2) select_by_share();
    for (Gang& gang : gangs_) {
      if (gang.slot == kNone) select(gang, best_slot(gang));
    }
    for (const auto& [shape, free] : free_) {
      for (std::size_t s = 1; s < free.size(); ++s) divide_core(shape, s);
    }
    std::vector<SelectedJob> selected;
    for (const Gang& gang : gangs_) {
      if (gang.slot != kNone) selected.push_back({gang.job(), gang.slot});
    }
    return selected;
  }

 private:
  void add_gangs(const planner_model::Valuation& valuation) {
    std::map<JobId, Gang> gangs;
    for (std::size_t t = 0; t < problem_.types.size(); ++t) {
      const JobType& type = problem_.types[t];
      for (std::size_t first = 0, last = 0; first < type.jobs.size(); first = last) {
        const JobId job = type.jobs[first];
        while (last < type.jobs.size() && type.jobs[last] == job) ++last;
        gangs[job].needs.push_back({.shape = type.shape_id,
                                    .type = t,
                                    .tasks = static_cast<std::int64_t>(last - first),
                                    .on_gpus = type.shape.uses_gpu()});
      }
    }
    const model::WorkloadView& workload = valuation.instance().workload;
    for (auto& [job, gang] : gangs) {
      std::int64_t tasks = 0;
      for (const Gang::Need& need : gang.needs) tasks += need.tasks;
      if (tasks != workload.tasks(workload.job(job))) continue;  // some tasks fit no machine
      double best = 0.0;
      gang.value.assign(slots_, -1.0);
      const bool on_gpus = std::ranges::any_of(gang.needs, &Gang::Need::on_gpus);
      for (std::size_t s = on_gpus ? 1 : 0; s < (on_gpus ? slots_ : 1); ++s) {
        if (!allowed(gang, s)) continue;
        gang.value[s] = valuation.best(job, type_of_slot(s));
        best = std::max(best, gang.value[s]);
      }
      gang.precedence = planner_model::precedence(
          workload, job, planner_model::value_density(workload, workload.job(job), best));
      gangs_.push_back(std::move(gang));
    }
    std::ranges::sort(gangs_, {}, &Gang::precedence);
  }

  [[nodiscard]] bool allowed(const Gang& gang, std::size_t slot) const {
    return std::ranges::all_of(gang.needs, [&](const Gang::Need& need) {
      if (!need.on_gpus) return true;
      const JobType& type = problem_.types[need.type];
      return slot < type.value.size() && type.value[slot] > 0.0;
    });
  }

  /// Tasks without GPUs may be on any machine: their places are counted in slot 0.
  std::int64_t& places(const Gang::Need& need, std::size_t slot) {
    PlaceCounts& free = free_[need.shape];
    free.resize(std::max(free.size(), slots_), 0);
    return free[need.on_gpus ? slot : 0];
  }

  void select(Gang& gang, std::size_t slot) {
    gang.slot = slot;
    if (slot == kNone) return;
    for (const Gang::Need& need : gang.needs) places(need, slot) -= need.tasks;
  }

  /// The allowed slot of largest value with places for the whole gang.
  std::size_t best_slot(const Gang& gang) {
    std::size_t best = kNone;
    for (std::size_t s = 0; s < slots_; ++s) {
      const bool useful = gang.value[s] > 0.0 || (gang.value[s] == 0.0 && gang.precedence.required);
      if (!useful || (best != kNone && gang.value[s] <= gang.value[best])) continue;
      const bool room = std::ranges::all_of(
          gang.needs, [&](const Gang::Need& need) { return places(need, s) >= need.tasks; });
      if (room) best = s;
    }
    return best;
  }

  /// The relaxation knows which jobs gain most from which GPU type: with several types, jobs first
  /// use the places that it gives to their own job type.
  void select_by_share() {
    for (Gang& gang : gangs_) {
      if (gang.needs.size() != 1) continue;
      PlaceCounts& share = share_[gang.needs.front().type];
      const std::int64_t tasks = gang.needs.front().tasks;
      if (std::ranges::count_if(share, [](std::int64_t n) { return n > 0; }) == 0) continue;
      std::size_t best = kNone;
      for (std::size_t s = 1; s < share.size(); ++s) {
        if (share[s] < tasks || gang.value[s] < 0.0) continue;
        if (best == kNone || gang.value[s] > gang.value[best]) best = s;
      }
      if (best == kNone) continue;
      share[best] -= tasks;
      select(gang, best);
    }
  }

  /// Selects anew among the last selected and the first rejected jobs of one shape and slot, so
  /// that their value is largest.
  void divide_core(ShapeId shape, std::size_t slot) {
    const auto of_shape = [&](const Gang& gang) {
      return gang.needs.size() == 1 && gang.needs.front().shape == shape &&
             gang.value[slot] > 0.0 && !gang.precedence.required;
    };
    std::vector<Gang*> core;
    std::int64_t open = free_[shape][slot];
    for (std::size_t i = gangs_.size(); i-- > 0 && core.size() < kCore;) {
      Gang& gang = gangs_[i];
      if (gang.slot != slot || !of_shape(gang)) continue;
      if (open + gang.needs.front().tasks > kCorePlaces) break;
      core.push_back(&gang);
      open += gang.needs.front().tasks;
    }
    const std::size_t selected = core.size();
    for (Gang& gang : gangs_) {
      if (core.size() == selected + kCore) break;
      if (gang.slot != kNone || !of_shape(gang) || gang.needs.front().tasks > open) continue;
      core.push_back(&gang);
    }
    if (core.size() == selected || open > kCorePlaces) return;
    for (std::size_t i = 0; i < selected; ++i) core[i]->slot = kNone;
    free_[shape][slot] = open;
    for (const std::size_t i : best_subset(core, slot, open)) select(*core[i], slot);
  }

  /// Positions of the gangs of largest total value that `open` places hold: dynamic programming
  /// over the places.
  static std::vector<std::size_t> best_subset(const std::vector<Gang*>& gangs, std::size_t slot,
                                              std::int64_t open) {
    const auto width = static_cast<std::size_t>(open) + 1;
    std::vector<double> best(width, 0.0);
    std::vector<char> takes(gangs.size() * width, 0);
    for (std::size_t i = 0; i < gangs.size(); ++i) {
      const auto tasks = static_cast<std::size_t>(gangs[i]->needs.front().tasks);
      const double value = gangs[i]->value[slot];
      for (std::size_t n = width; n-- > tasks;) {
        if (best[n - tasks] + value <= best[n]) continue;
        best[n] = best[n - tasks] + value;
        takes[i * width + n] = 1;
      }
    }
    std::vector<std::size_t> subset;
    std::size_t n = width - 1;
    for (std::size_t i = gangs.size(); i-- > 0;) {
      if (takes[i * width + n] == 0) continue;
      subset.push_back(i);
      n -= static_cast<std::size_t>(gangs[i]->needs.front().tasks);
    }
    return subset;
  }

  const PackingProblem& problem_;
  std::vector<PlaceCounts> share_;       ///< by job type: places of its own that are left
  std::map<ShapeId, PlaceCounts> free_;  ///< places that are left
  std::size_t slots_ = 1;
  std::vector<Gang> gangs_;  ///< by precedence
};

}  // namespace

std::vector<SelectedJob> select_gangs(const PackingProblem& problem,
                                      const planner_model::Valuation& valuation,
                                      const std::vector<PlaceCounts>& places) {
  return GangSelection(problem, valuation, places).run();
}

}  // namespace berth::solver
