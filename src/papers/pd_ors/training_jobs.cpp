// SPDX-License-Identifier: Apache-2.0
#include "training_jobs.hpp"

#include "../smd/overlap_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "berth/base/error.hpp"
#include "berth/model/free_machine.hpp"

namespace berth::papers::pd_ors {
namespace {

constexpr std::int64_t kMostEntries = std::int64_t{1} << 26;
/// Amounts of a row of resources in the unit of prices: cores, GiB, Gbit/s, kW.
constexpr double unit_of(std::size_t row) { return row == model::kMemory ? 1024.0 : 1000.0; }

std::string_view name_of(const PaperWorld& world, JobId job) {
  return world.instance.workload.job_names[job.index()];
}

/// The one group beside the servers; none: there are others.
std::optional<std::uint32_t> worker_group(const PaperWorld& world, JobId id) {
  const model::Workload& workload = world.instance.workload;
  const auto groups = workload.groups_of(workload.job(id));
  const std::uint32_t servers = world.profiles.jobs[id.index()].servers;
  if (groups.size() != 2 || servers > 1) return std::nullopt;
  return 1 - servers;
}

/// Counts of tasks by group: those of `tasks`, or of each configuration.
std::vector<std::vector<std::int32_t>> counts_of(const PaperWorld& world, JobId id) {
  const model::Workload& workload = world.instance.workload;
  const model::Job& job = workload.job(id);
  std::vector<std::vector<std::int32_t>> counts;
  for (const auto& choice : workload.configurations[workload.time_of(job).configurations])
    counts.push_back(choice.counts);
  if (!counts.empty()) return counts;
  counts.emplace_back();
  for (const auto& group : workload.groups_of(job)) counts.back().push_back(group.count);
  return counts;
}

/// What the job lacks; empty: nothing.
std::string_view lacking(const PaperWorld& world, JobId id) {
  const model::Workload& workload = world.instance.workload;
  const model::Job& job = workload.job(id);
  if (!world.profiles.has(id) ||
      world.profiles.jobs[id.index()].kind != speed::ProfileKind::parameter_server)
    return "has no profile of the model parameter_server";
  const auto workers = worker_group(world, id);
  if (!workers) return "has other task groups than workers and servers";
  const auto groups = workload.groups_of(job);
  if (workload.shape(groups[*workers].shape).gpu_milli > 0) return "has workers on parts of a GPU";
  if (workload.shape(groups[1 - *workers].shape).uses_gpu()) return "has servers with GPUs";
  if (job.domain != model::Level::cluster) return "has a domain";
  const auto both = [](const auto& counts) { return counts[0] > 0 && counts[1] > 0; };
  if (std::ranges::none_of(counts_of(world, id), both)) return "has no workers beside servers";
  return {};
}

void check_cluster(std::string_view policy, const model::Cluster& cluster) {
  GpuTypeId type;
  for (const model::MachineClass& machines : cluster.classes) {
    if (machines.gpus == 0) continue;
    if (type.valid() && machines.gpu_type != type) {
      throw InputError({.file = "", .line = 0, .field = "gpu_type"},
                       std::string(policy) + " knows one GPU type, the cluster has several",
                       "give it the machines of one type");
    }
    type = machines.gpu_type;
  }
  if (cluster.machines() >= 2) return;
  throw InputError({.file = "", .line = 0, .field = "machines"},
                   std::string(policy) + " needs two machines: workers and servers may be apart",
                   "give it a larger cluster");
}

/// Capacities of machines that are up, and demands of tasks.
class Amounts {
 public:
  explicit Amounts(const model::Instance& instance)
      : instance_(instance), rows_(smd::limited_rows(instance.cluster)) {}

  [[nodiscard]] std::size_t resources() const { return rows_.size() + 1; }
  [[nodiscard]] std::vector<double> capacity() const {
    std::vector<double> capacity;
    for (std::size_t m = 0; m < instance_.cluster.machines(); ++m) {
      const model::FreeMachine machine(instance_.cluster, MachineId(m));
      const bool up = machine.is_up();
      capacity.push_back(up ? machine.whole_count() : 0.0);
      for (const std::size_t row : rows_)
        capacity.push_back(up ? static_cast<double>(machine.resources()[row]) / unit_of(row) : 0.0);
    }
    return capacity;
  }
  [[nodiscard]] std::vector<double> demand(const model::Shape& shape) const {
    std::vector<double> demand{static_cast<double>(shape.gpus)};
    for (const std::size_t row : rows_)
      demand.push_back(static_cast<double>(shape.needs[row]) / unit_of(row));
    return demand;
  }

 private:
  const model::Instance& instance_;
  std::vector<std::size_t> rows_;
};

/// Distinct numbers of workers with the fewest servers of each.
std::vector<Crew> crews_of(const PaperWorld& world, JobId id, TrainingWorld::Choices& choices) {
  std::map<std::int32_t, std::int32_t> servers_of;
  const auto counts = counts_of(world, id);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const std::int32_t workers = counts[c][choices.workers], servers = counts[c][choices.servers];
    if (workers < 1 || servers < 1) continue;
    const auto [at, fresh] = servers_of.try_emplace(workers, servers);
    if (!fresh && at->second <= servers) continue;
    at->second = servers;
    choices.by_crew[workers] = static_cast<std::uint32_t>(c);
  }
  std::vector<Crew> crews;
  for (const auto& [workers, servers] : servers_of) crews.push_back({workers, servers});
  return crews;
}

/// Value at a completion at the end of each slot, until it stays as it is.
std::vector<double> utilities_of(const PaperWorld& world, const policy::State& state, JobId id,
                                 std::int64_t slot, std::int64_t first) {
  const model::Workload& workload = world.instance.workload;
  const model::Job& job = workload.job(id);
  const model::TimeRules& rules = workload.time_of(job);
  const model::Utility& utility = workload.utilities[rules.utility];
  const double gpus = static_cast<double>(workload.gpu_milli(job)) / 1000.0;
  const double value = std::isnan(job.value) ? job.weight * std::max(gpus, 1.0) : job.value;
  const std::int64_t last = utility.points.empty() ? 0 : utility.points.back().seconds;
  const bool limited = rules.deadline != model::kNever;
  std::vector<double> utilities;
  for (std::int64_t k = first;; ++k) {
    const std::int64_t end = (k + 1) * slot;
    const double after = static_cast<double>(end - state.job(id).arrival) / policy::kSecond;
    const bool late = limited && end > rules.deadline * policy::kSecond;
    utilities.push_back(late ? 0.0 : value * model::factor_after(utility, after));
    const bool flat = after > static_cast<double>(last) && (late || !limited);
    if (flat || std::ssize(utilities) > kMostSlots) return utilities;
  }
}

class JobReader {
 public:
  JobReader(const PaperWorld& world, const policy::State& state, const Amounts& amounts,
            TrainingWorld& training)
      : world_(world), state_(state), amounts_(amounts), training_(training) {}

  [[nodiscard]] TrainingJob read(JobId id, TrainingWorld::Choices& choices) const {
    const model::Workload& workload = world_.instance.workload;
    const auto groups = workload.groups_of(workload.job(id));
    choices.workers = *worker_group(world_, id);
    choices.servers = 1 - choices.workers;
    const std::int64_t slot = training_.slot;
    const std::int64_t arrival = (state_.job(id).arrival + slot - 1) / slot;
    TrainingJob job;
    job.arrival = static_cast<std::int32_t>(arrival - training_.first_slot);
    job.samples = static_cast<double>(state_.remaining(id)) / policy::kSecond;
    job.crews = crews_of(world_, id, choices);
    job.max_workers = job.crews.back().workers;
    job.worker = amounts_.demand(workload.shape(groups[choices.workers].shape));
    job.server = amounts_.demand(workload.shape(groups[choices.servers].shape));
    job.utilities = utilities_of(world_, state_, id, slot, arrival);
    speed::ParameterServerJob speed = world_.profiles.parameter_servers[id.index()];
    const std::int64_t batch = world_.profiles.jobs[id.index()].batch;
    if (batch > 0) speed.batch = static_cast<double>(batch);
    // Any slot may begin with a restart, so that what is booked is enough.
    const std::int64_t restart = std::max(state_.job(id).restart_cost, state_.job(id).move_cost);
    const double useful =
        static_cast<double>(std::max(slot - restart, slot / 10)) / policy::kSecond;
    job.internal_cost = speed.seconds(speed.internal_gbps) * speed.reference / useful;
    job.external_cost = speed.seconds(speed.external_gbps) * speed.reference / useful;
    job.external_cost = std::max(job.internal_cost, job.external_cost);
    job.workers_per_server = speed.workers_per_server;
    return job;
  }

 private:
  const PaperWorld& world_;
  const policy::State& state_;
  const Amounts& amounts_;
  TrainingWorld& training_;
};

}  // namespace

void check_training_jobs(std::string_view policy, const PaperWorld& world) {
  check_cluster(policy, world.instance.cluster);
  constexpr std::size_t kMost = 5;
  std::size_t wrong = 0;
  std::string names;
  for (std::size_t j = 0; j < world.instance.workload.size(); ++j) {
    const std::string_view what = lacking(world, JobId(j));
    if (what.empty()) continue;
    if (++wrong > kMost) continue;
    names +=
        (wrong > 1 ? ", " : "") + std::string(name_of(world, JobId(j))) + " " + std::string(what);
  }
  if (wrong == 0) return;
  if (wrong > kMost) names += " and " + std::to_string(wrong - kMost) + " more";
  throw InputError({.file = "", .line = 0, .field = "profile"},
                   std::string(policy) +
                       " needs jobs of workers and servers with a profile of the model "
                       "parameter_server, whole GPUs, any machines: job " +
                       names,
                   "name one in --profiles, and workers and servers in configurations");
}

TrainingCrews crews_of(const PaperWorld& world, JobId id) {
  TrainingWorld::Choices choices;
  choices.workers = *worker_group(world, id);
  choices.servers = 1 - choices.workers;
  return {.workers = choices.workers, .crews = crews_of(world, id, choices)};
}

std::vector<double> capacity_of(const model::Instance& instance) {
  return Amounts(instance).capacity();
}

std::vector<double> demand_of(const model::Instance& instance, const model::Shape& shape) {
  return Amounts(instance).demand(shape);
}

TrainingWorld training_world(std::string_view policy, const PaperWorld& world,
                             const policy::State& state, std::int64_t slot) {
  TrainingWorld training{.slot = slot};
  const Amounts amounts(world.instance);
  training.first_slot = state.now() / slot;
  for (std::size_t j = 0; j < state.size(); ++j)
    training.first_slot = std::min(training.first_slot, state.job(JobId(j)).arrival / slot);
  training.choices.resize(state.size());
  const JobReader reader(world, state, amounts, training);
  std::int64_t last = 0;
  double alone = 0.0;
  for (std::size_t j = 0; j < state.size(); ++j) {
    const TrainingJob& job =
        training.instance.jobs.emplace_back(reader.read(JobId(j), training.choices[j]));
    last = std::max<std::int64_t>(last, job.arrival);
    alone += std::ceil(job.samples * job.external_cost / job.max_workers);
  }
  const auto tail = static_cast<std::int64_t>(std::min(alone, static_cast<double>(kMostSlots)));
  training.instance.resources = amounts.resources();
  training.instance.capacity = amounts.capacity();
  const std::int64_t slots = last + std::max<std::int64_t>(tail, 1);
  if (slots > kMostEntries / std::ssize(training.instance.capacity)) {
    throw InputError({.file = "", .line = 0, .field = "slot"},
                     std::string(policy) + " would keep prices of " + std::to_string(slots) +
                         " slots on each machine",
                     "give a longer --slot");
  }
  training.instance.slots = static_cast<std::int32_t>(slots);
  return training;
}

}  // namespace berth::papers::pd_ors
