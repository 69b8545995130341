// SPDX-License-Identifier: Apache-2.0
#include "local_search/fill_idle_capacity.hpp"

#include "local_search/candidate_domains.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/planner_model/equal_jobs.hpp"
#include "berth/planner_model/option_enumerator.hpp"
#include "berth/planner_model/task_profile.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {
namespace {

using model::Level;
using planner_model::JobOption;

/// Options by descending value, and the first of them that may have room.
struct Cursor {
  std::vector<JobOption> options;
  std::uint32_t tasks = 0;  ///< equal numbers: equal tasks, for which equal places have room
  std::size_t option = 0;

  [[nodiscard]] bool at_end() const { return option == options.size(); }
  [[nodiscard]] const JobOption& operator*() const { return options[option]; }
};

/// Densities within a 64th of an octave (1 %) count as equal, so that large jobs precede small
/// ones of about their density (best fit decreasing): small ones first leave room that no large one
/// fits. Chosen, not tuned.
constexpr double kBandsPerOctave = 64.0;

/// A job and the option that it tries next.
struct Turn {
  planner_model::Precedence precedence;  ///< by the value of this option
  int band;                              ///< of that density
  std::int64_t size;                     ///< GPU thousandths
  double value;
  Cursor* cursor;

  /// The first is on top of a priority_queue.
  bool operator<(const Turn& o) const {
    const auto key = [](const Turn& t) {
      return std::tuple(t.precedence.required, t.band, t.size);
    };
    if (key(*this) != key(o)) return key(*this) < key(o);
    return o.precedence < precedence;
  }
};

int band_of(double density) {
  constexpr int kLeast = -131072;  // below log2 of every positive double, in bands
  if (!(density > 0.0)) return kLeast;
  return static_cast<int>(std::floor(kBandsPerOctave * std::log2(density) + 0.5));
}

/// Room only shrinks during the filling: where a job finds none, equal jobs find none later. So
/// jobs that fit into equal domains and have equal orders of options share a cursor.
template <SearchState State>
class Filling {
 public:
  Filling(State& state, const OptionPlacer& placer)
      : state_(state),
        placer_(placer),
        cluster_(state.valuation().instance().cluster),
        workload_(state.valuation().instance().workload),
        has_spare_(!cluster_.spare.empty()),
        remembers_(depends_on_tasks_alone(state.limit_usage())) {}

  void add(JobId job) {
    const auto [at, fresh] =
        cursors_.try_emplace(planner_model::job_kind(workload_, workload_.job(job)));
    if (fresh) {
      at->second.options = options_of(job);
      at->second.tasks = tasks_of(workload_.job(job));
    }
    enqueue(job, at->second);
  }

  void run(const StopToken& stop) {
    while (!queue_.empty() && !stop.requested()) {
      const Turn turn = queue_.top();
      queue_.pop();
      const JobId job = turn.precedence.job;
      if (turn.cursor->at_end()) continue;
      if (value_of(job, **turn.cursor) < turn.value) {  // equal jobs found the better ones full
        enqueue(job, *turn.cursor);
        continue;
      }
      const std::optional<double> surcharge = state_.limit_usage().surcharge(job);
      if (!surcharge || (turn.value < *surcharge && !turn.precedence.required)) continue;
      if (placer_.place ? placer_.place(job, **turn.cursor) : place(job, *turn.cursor)) continue;
      ++turn.cursor->option;
      enqueue(job, *turn.cursor);
    }
  }

 private:
  /// Number of the job's tasks among those of all jobs.
  std::uint32_t tasks_of(const model::Job& job) {
    return tasks_
        .try_emplace({planner_model::TaskProfile(workload_, job), job.gpu_types, job.domain},
                     static_cast<std::uint32_t>(tasks_.size()))
        .first->second;
  }

  [[nodiscard]] double value_of(JobId job, const JobOption& option) const {
    return planner_model::OptionEnumerator(state_.valuation(), job, placer_.finest).value(option);
  }

  /// The options of a job by descending value, then ascending width. An option inside a wider one
  /// of equal value is left out, except under limits of racks and pods, which may not admit the
  /// wider one.
  [[nodiscard]] std::vector<JobOption> options_of(JobId id) const {
    const planner_model::OptionEnumerator job_options(state_.valuation(), id, placer_.finest);
    const planner_model::CouplingLimits* limits = state_.limit_usage().limits();
    const bool keep_all = limits != nullptr && limits->of_places();
    std::vector<std::pair<double, JobOption>> by_value;
    for (const GpuTypeId type : candidate_types(state_.index(), workload_, workload_.job(id))) {
      if (placer_.type.valid() && type != placer_.type) continue;
      job_options.for_each_on(type, [&](const JobOption& option) {  // wide scopes first
        const double value = job_options.value(option);
        const auto contains_it = [&](const auto& o) {
          return o.first == value && o.second.type == type && o.second.width >= option.width;
        };
        if (keep_all || std::ranges::none_of(by_value, contains_it))
          by_value.emplace_back(value, option);
      });
    }
    std::ranges::stable_sort(by_value, {},
                             [](const auto& o) { return std::pair(-o.first, o.second.width); });
    std::vector<JobOption> options;
    for (const auto& entry : by_value) options.push_back(entry.second);
    return options;
  }

  void enqueue(JobId id, Cursor& cursor) {
    if (cursor.at_end()) return;
    const double value = value_of(id, *cursor);
    const model::Job& job = workload_.job(id);
    const double density = planner_model::value_density(workload_, job, value);
    queue_.push({planner_model::precedence(workload_, id, density), band_of(density),
                 workload_.gpu_milli(job), value, &cursor});
  }

  /// Places the job where its option allows, unless equal tasks found no room there.
  bool place(JobId id, const Cursor& cursor) {
    const JobOption& option = *cursor;
    const Attempt attempt{cursor.tasks, option.type, option.width, option.scope.level,
                          option.scope.domain};
    if (full_.contains(attempt)) return false;
    if (place(id, option)) return true;
    if (remembers_) full_.insert(attempt);
    return false;
  }

  /// Places the job in the fullest domain with room; a single task on the fullest machine.
  bool place(JobId id, const JobOption& option) {
    const model::Job& job = workload_.job(id);
    const Level level = option.width == Level::machine ? option.scope.level : option.width;
    const std::span<const Domain> domains = domains_in(option.scope, option.type, level);
    std::vector<const Domain*> order;
    if (placer_.holders) {
      order = placer_.holders(id, option.type, domains);
    } else {
      for (const Domain& domain : domains) order.push_back(&domain);
    }
    if (order.size() > 1) order = fullest_first(order, workload_.gpu_milli(job));
    for (const bool use_spare : {false, true}) {
      if (use_spare && !has_spare_) break;
      use_spare_ = use_spare;
      for (const Domain* domain : order) {
        if (place_in(id, option, *domain)) return true;
      }
    }
    return false;
  }

  /// Those of the domains with so many idle GPU thousandths.
  [[nodiscard]] std::vector<const Domain*> fullest_first(std::span<const Domain* const> domains,
                                                         std::int64_t milli) const {
    std::vector<std::pair<std::int64_t, const Domain*>> by_idle;
    for (const Domain* domain : domains) {
      std::int64_t idle = 0;
      for (const MachineId m : domain->machines) idle += state_.room().free_milli(m);
      if (idle >= milli) by_idle.emplace_back(idle, domain);
    }
    std::ranges::stable_sort(by_idle, {}, [](const auto& entry) { return entry.first; });
    std::vector<const Domain*> order;
    for (const auto& entry : by_idle) order.push_back(entry.second);
    return order;
  }

  bool place_in(JobId id, const JobOption& option, const Domain& domain) {
    const model::Job& job = workload_.job(id);
    const Level width = option.width;
    std::vector<MachineId> open =
        placer_.roomy ? placer_.roomy(id, option.type, domain) : domain.machines;
    if (job.groups > 1 && width != Level::machine && workload_.allows(job, {}, GpuTypeId{})) {
      add_machines_without_gpus(domain, open);
    }
    std::erase_if(open, [&](MachineId m) { return !state_.limit_usage().admits(id, m, width); });
    if (width != Level::machine || workload_.tasks(job) == 1) return place_on(id, open);
    const std::int64_t milli = workload_.gpu_milli(job);
    const planner_model::Room& room = state_.room();
    std::erase_if(open, [&](MachineId m) { return room.free_milli(m) < milli; });
    std::ranges::sort(open, {}, [&](MachineId m) { return std::pair(room.free_milli(m), m); });
    return std::ranges::any_of(open, [&](MachineId m) { return place_on(id, {&m, 1}); });
  }

  bool place_on(JobId job, std::span<const MachineId> machines) {
    auto placement = state_.fit(job, machines);
    if (!placement || !is_worth_spare_gpus(*placement)) return false;
    state_.take(std::move(*placement));
    return true;
  }

  /// True when the placement loses no value by use of spare GPUs, or, where jobs may use them, less
  /// than it is worth. Required jobs may use them at any loss.
  [[nodiscard]] bool is_worth_spare_gpus(const model::JobPlacement& placement) const {
    const double surcharge = state_.limit_usage().surcharge_of_place(placement);
    if (surcharge <= 0.0) return true;
    return use_spare_ && (workload_.job(placement.job).required ||
                          surcharge < state_.valuation().placed(placement));
  }

  /// Adds the domain's machines without GPUs, which tasks without GPUs may use too.
  void add_machines_without_gpus(const Domain& domain, std::vector<MachineId>& machines) const {
    for (const Domain& all : state_.index().domains(GpuTypeId{}, domain.level)) {
      if (!std::ranges::binary_search(all.machines, domain.machines.front())) continue;
      std::ranges::copy_if(all.machines, std::back_inserter(machines),
                           [&](MachineId m) { return cluster_.class_of(m).gpus == 0; });
    }
  }

  /// Domains inside the scope. Machines are numbered rack by rack, pod by pod.
  [[nodiscard]] std::span<const Domain> domains_in(const planner_model::HomeScope& scope,
                                                   GpuTypeId type, Level level) const {
    const std::span<const Domain> all = state_.index().domains(type, level);
    if (scope.level == Level::cluster) return all;
    const auto of = [&](const Domain& domain) {
      const MachineId m = domain.machines.front();
      return scope.level == Level::pod ? cluster_.pod_of(m).value()
                                       : cluster_.machine_rack[m.index()].value();
    };
    const auto found = std::ranges::equal_range(all, scope.domain, {}, of);
    return {found.begin(), found.end()};
  }

  State& state_;
  const OptionPlacer& placer_;
  const model::Cluster& cluster_;
  const model::WorkloadView& workload_;
  std::map<planner_model::JobClass, Cursor> cursors_;
  std::priority_queue<Turn> queue_;
  std::map<std::tuple<planner_model::TaskProfile, std::uint64_t, Level>, std::uint32_t> tasks_;
  /// Tasks, and type, width, scope and its domain of an option.
  using Attempt = std::tuple<std::uint32_t, GpuTypeId, Level, Level, std::int32_t>;
  std::set<Attempt> full_;  ///< attempts without room, which only shrinks
  bool has_spare_;          ///< pods keep spare GPUs
  bool remembers_;          ///< room depends on the tasks alone
  bool use_spare_ = false;  ///< the placement tried may use spare GPUs
};

}  // namespace

template <SearchState State>
void fill_idle_capacity(State& state, std::span<const JobId> jobs, const StopToken& stop,
                        const OptionPlacer& placer) {
  Filling<State> filling(state, placer);
  for (const JobId job : jobs) {
    if (!state.is_placed(job)) filling.add(job);
  }
  filling.run(stop);
}

template void fill_idle_capacity(Occupancy&, std::span<const JobId>, const StopToken&,
                                 const OptionPlacer&);

}  // namespace berth::solver::local_search
