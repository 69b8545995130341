// SPDX-License-Identifier: Apache-2.0
#include "assignment/option_table.hpp"

#include <algorithm>

#include "berth/base/random.hpp"
#include "berth/model/domain_task_counts.hpp"
#include "berth/planner_model/occupied_gpus.hpp"

namespace berth::solver::assignment {

using model::Level;

namespace {

bool fits(const model::MachineClass& c, const model::Shape& total) {
  return total.needs.within(c.capacity) && total.total_milli() <= model::kGpuMilli * c.gpus;
}

/// sum + count x amount, capped at 2^61, which exceeds every machine. The product of one group does
/// not overflow: the readers admit at most 10^6 tasks of amounts up to 2^40.
std::int64_t add_capped(std::int64_t sum, std::int64_t count, std::int64_t amount) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;  // guard against overflow
  return std::min(kMost, sum + count * amount);
}

TaskDemand demand_of(const model::InstanceView& instance,
                     std::span<const model::TaskGroup> groups) {
  TaskDemand s;
  const model::WorkloadView& workload = instance.workload;
  bool alike = true;
  model::Shape sum;
  std::int64_t sum_milli = 0;
  for (const model::TaskGroup& g : groups) {
    const model::Shape& shape = workload.shape(g.shape);
    for (std::size_t r = 0; r < model::kResources; ++r) {
      sum.needs[r] = add_capped(sum.needs[r], g.count, shape.needs[r]);
    }
    sum_milli += g.count * shape.total_milli();
    s.tasks += g.count;
    if (!shape.uses_gpu()) {
      s.cpu_tasks = true;
      const auto holds = [&](const model::MachineClass& c) {
        return c.gpus == 0 || fits(c, shape);
      };
      if (!std::ranges::all_of(instance.cluster.classes, holds)) s.cpu_shapes.push_back(g.shape);
      continue;
    }
    alike = alike && shape.gpus > 0 && (s.gpus_per_task == 0 || s.gpus_per_task == shape.gpus);
    s.gpus_per_task = shape.gpus;
  }
  s.milli = sum_milli;
  if (!alike) s.gpus_per_task = 0;
  for (const model::MachineClass& c : instance.cluster.classes) {
    const bool each = std::ranges::all_of(groups, [&](const model::TaskGroup& g) {
      const model::Shape& shape = workload.shape(g.shape);
      return !shape.uses_gpu() || fits(c, shape);  // tasks without GPUs may use CPU-only machines
    });
    s.task_fits.push_back(each ? 1 : 0);
    s.job_fits.push_back(each && fits(c, sum) && sum_milli <= model::kGpuMilli * c.gpus ? 1 : 0);
  }
  return s;
}

/// Counts whole machines for an exclusive job with GPUs.
void count_machines(const model::InstanceView& instance, const model::Job& job, TaskDemand& s) {
  const planner_model::OccupiedGpus occupied = planner_model::occupied_gpus(instance, job);
  if (occupied.milli == s.milli) return;
  s.milli = occupied.milli;
  s.gpus_per_task = occupied.per_machine;
  if (occupied.machines > 0) s.tasks = occupied.machines;
}

/// [domain][ClassId]: 1 when the rack (pod) has machines of the class.
std::vector<std::vector<char>> classes_of(const model::Cluster& cluster, bool pods) {
  std::vector<std::vector<char>> present(pods ? cluster.pods.size() : cluster.racks.size(),
                                         std::vector<char>(cluster.classes.size(), 0));
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const RackId rack = cluster.machine_rack[m];
    const std::size_t d = pods ? cluster.racks[rack.index()].pod.index() : rack.index();
    present[d][cluster.machine_class[m].index()] = 1;
  }
  return present;
}

}  // namespace

OptionTable::OptionTable(const planner_model::Valuation& valuation, const PoolIndex& pool_index,
                         std::span<const JobId> jobs,
                         const planner_model::LimitGroups* limit_groups)
    : valuation_(&valuation),
      pool_index_(&pool_index),
      limit_groups_(limit_groups),
      largest_limits_(valuation.instance().cluster) {
  profile_of_.reserve(jobs.size());
  end_.reserve(jobs.size());
  for (const JobId id : jobs) {
    profile_of_.push_back(intern_profile(valuation.instance().workload.job(id)));
    add_options(id, profile_of_.back());
    end_.push_back(options_.size());
  }
}

std::span<const Option> OptionTable::options(std::size_t position) const {
  const std::size_t first = position == 0 ? 0 : end_[position - 1];
  return std::span(options_).subspan(first, end_[position] - first);
}

std::uint32_t OptionTable::intern_profile(const model::Job& job) {
  const model::InstanceView& instance = valuation_->instance();
  const auto [entry, fresh] =
      known_profiles_.try_emplace(planner_model::TaskProfile(instance.workload, job),
                                  static_cast<std::uint32_t>(profiles_.size()));
  if (!fresh) return entry->second;
  profiles_.push_back(demand_of(instance, instance.workload.groups_of(job)));
  fits_anywhere_.emplace_back();
  TaskDemand& demand = profiles_.back();
  demand.most_on_machine =
      model::most_tasks_in(instance.workload.rules_of(job), demand.tasks).front();
  count_machines(instance, job, demand);
  if (!demand.cpu_shapes.empty() && rack_classes_.empty()) {
    rack_classes_ = classes_of(instance.cluster, false);
    pod_classes_ = classes_of(instance.cluster, true);
  }
  return entry->second;
}

std::uint32_t OptionTable::intern(const PlaceClass& s) {
  const std::uint64_t key =
      mix64(s.profile) ^
      mix64((static_cast<std::uint64_t>(s.domain) << 16) |
            (static_cast<std::uint64_t>(s.type.value()) << 8) |
            (static_cast<std::uint64_t>(s.width) << 4) | static_cast<std::uint64_t>(s.scope));
  const auto same = [&](const PlaceClass& o) {
    return o.profile == s.profile && o.type == s.type && o.width == s.width && o.scope == s.scope &&
           o.domain == s.domain;
  };
  for (std::uint64_t probe = key;; probe = mix64(probe)) {
    const auto [entry, fresh] =
        known_place_classes_.try_emplace(probe, static_cast<std::uint32_t>(place_classes_.size()));
    if (fresh) place_classes_.push_back(s);
    if (same(place_classes_[entry->second])) return entry->second;
  }
}

/// True when some rack (pod) of these pools also has machines for the job's tasks without GPUs;
/// otherwise no domain of this width can hold the job.
bool OptionTable::cpu_tasks_fit(const TaskDemand& profile,
                                std::span<const std::int32_t> domain_pools, Level width) const {
  if (profile.cpu_shapes.empty() || (width != Level::rack && width != Level::pod)) return true;
  const model::InstanceView& instance = valuation_->instance();
  const auto fit_in = [&](const std::vector<char>& present) {
    return std::ranges::all_of(profile.cpu_shapes, [&](ShapeId s) {
      for (std::size_t c = 0; c < present.size(); ++c) {
        const model::Shape& shape = instance.workload.shape(s);
        if (present[c] != 0 && fits(instance.cluster.classes[c], shape)) return true;
      }
      return false;
    });
  };
  return std::ranges::any_of(domain_pools, [&](std::int32_t p) {
    const planner_model::Pool& pool = pool_index_->pools().pools[static_cast<std::size_t>(p)];
    return fit_in(width == Level::rack ? rack_classes_[pool.rack.index()]
                                       : pod_classes_[pool.pod.index()]);
  });
}

/// True when some pool holds a GPU task and some domain of this width all tasks without GPUs;
/// otherwise no domain of this width can hold the job.
bool OptionTable::may_fit(const TaskDemand& profile, std::span<const std::int32_t> domain_pools,
                          Level width) const {
  const auto& fitting = width == Level::machine ? profile.job_fits : profile.task_fits;
  const bool somewhere = std::ranges::any_of(domain_pools, [&](std::int32_t p) {
    return fitting[pool_index_->pools().pools[static_cast<std::size_t>(p)].machine_class.index()] !=
           0;
  });
  return somewhere && cpu_tasks_fit(profile, domain_pools, width);
}

/// `may_fit` for the pools of a type in the whole cluster, which are many: computed once.
bool OptionTable::may_fit_anywhere(std::uint32_t profile_id, GpuTypeId type, Level width) {
  std::vector<signed char>& known = fits_anywhere_[profile_id];
  constexpr std::size_t kWidths = model::kLevels;
  known.resize(pool_index_->types() * kWidths, -1);
  signed char& fits_here = known[type.index() * kWidths + static_cast<std::size_t>(width)];
  if (fits_here < 0) {
    const auto pools = pool_index_->pools_in(type, Level::cluster, 0);
    fits_here = may_fit(profiles_[profile_id], pools, width) ? 1 : 0;
  }
  return fits_here != 0;
}

/// Index of the job's loads of limits in `limit_loads_`; equal loads share one entry.
std::uint32_t OptionTable::intern_limit_load(JobId job, GpuTypeId type, Level width) {
  if (limit_groups_ == nullptr) return Option::kNoLimitLoad;
  const auto loads = limit_groups_->group_loads(job, type, width);
  if (loads == planner_model::LimitGroups::GroupLoads{}) return Option::kNoLimitLoad;
  LoadKey key{};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    key[2 * i] = static_cast<double>(loads[i].group);
    key[2 * i + 1] = loads[i].amount;
  }
  const auto [entry, fresh] =
      known_limit_loads_.try_emplace(key, static_cast<std::uint32_t>(limit_loads_.size()));
  if (fresh) limit_loads_.push_back(loads);
  return entry->second;
}

void OptionTable::add_options(JobId id, std::uint32_t profile_id) {
  if (profiles_[profile_id].milli == 0) return;
  const std::size_t begin = options_.size();
  const planner_model::OptionEnumerator job_options(*valuation_, id, pool_index_->pools().level);
  for (const GpuTypeId type : job_options.types()) {
    add_type_options(id, profile_id, job_options, type);
  }
  std::stable_sort(options_.begin() + static_cast<std::ptrdiff_t>(begin), options_.end(),
                   [](const Option& a, const Option& b) { return a.value > b.value; });
}

void OptionTable::add_type_options(JobId id, std::uint32_t profile_id,
                                   const planner_model::OptionEnumerator& job_options,
                                   GpuTypeId type) {
  const model::Job& job = valuation_->instance().workload.job(id);
  const bool by_pod = pool_index_->pools().level == Level::pod;
  struct KeptOption {
    Level width, scope;
    double value;
    std::uint32_t limit_load;
  };
  std::vector<KeptOption> kept;
  job_options.for_each_on(type, [&](const planner_model::JobOption& option) {
    if (!largest_limits_.allow(valuation_->instance().workload, job, option.width)) return;
    const planner_model::HomeScope& scope = option.scope;
    const auto domain_pools = pool_index_->pools_in(type, scope.level, scope.domain);
    const Level width = by_pod && option.width == Level::rack ? Level::pod : option.width;
    if (!(scope.level == Level::cluster ? may_fit_anywhere(profile_id, type, width)
                                        : may_fit(profiles_[profile_id], domain_pools, width))) {
      return;
    }
    const double value = job_options.value(option);
    const std::uint32_t load = intern_limit_load(id, type, option.width);
    const bool inside = std::ranges::any_of(kept, [&](const KeptOption& k) {
      return k.width >= width && k.scope >= scope.level && k.value >= value &&
             (k.limit_load == Option::kNoLimitLoad || k.limit_load == load);
    });
    if (inside || (value <= 0.0 && !job.required)) return;
    kept.push_back({width, scope.level, value, load});
    options_.push_back({value, intern({profile_id, type, width, scope.level, scope.domain}), load});
  });
}

}  // namespace berth::solver::assignment
