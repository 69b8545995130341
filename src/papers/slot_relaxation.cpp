// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/slot_relaxation.hpp"

#include "pd_ors/training_jobs.hpp"
#include "smd/overlap_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/papers/pd_ors/pooled_bound.hpp"

namespace berth::papers {
namespace {

constexpr std::int64_t kSecond = policy::kSecond;
constexpr std::int64_t kMostRelaxedSlots = 24;  ///< more and prices of few columns prove little
constexpr int kRelaxedRounds = 120;
/// GPUs, cores and GiB rather than thousandths and MiB.
constexpr double kAmountUnit = 1000.0;

bool is_training(std::string_view policy) { return policy == "pd-ors" || policy == "oasis"; }

/// Value of the job when it ends at a time, or within the moment after.
double value_at(const PaperWorld& world, const model::JobRecord& record, std::int64_t time) {
  const model::Workload& workload = world.instance.workload;
  const model::Job& job = workload.job(record.job);
  const model::TimeRules& rules = workload.time_of(job);
  if (rules.deadline != model::kNever && time > rules.deadline * kSecond) return 0.0;
  const double gpus = static_cast<double>(workload.gpu_milli(job)) / 1000.0;
  const double value = std::isnan(job.value) ? job.weight * std::max(gpus, 1.0) : job.value;
  const auto after = static_cast<double>(std::max<std::int64_t>(time - record.arrival, 0));
  return value * model::factor_after(workload.utilities[rules.utility], after / kSecond);
}

/// The slots: from the first arrival to the last end.
struct RelaxedSlots {
  std::int64_t begin = 0, length = kSecond;
  std::int32_t count = 1;

  explicit RelaxedSlots(std::span<const model::JobRecord> records) {
    begin = records.front().arrival;
    std::int64_t end = begin + 1;
    for (const model::JobRecord& record : records) {
      begin = std::min(begin, record.arrival);
      end = std::max(end, record.arrival + 1);
      if (record.finished()) end = std::max(end, record.end());
    }
    const std::int64_t least = kMostRelaxedSlots * kSecond;
    length = kSecond * ((end - begin + least - 1) / least);
    count = static_cast<std::int32_t>((end - begin + length - 1) / length);
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(length) / kSecond; }
};

pd_ors::TrainingJob training_job(const PaperWorld& world, JobId id, const RelaxedSlots& slots) {
  const model::Workload& workload = world.instance.workload;
  const auto [workers, crews] = pd_ors::crews_of(world, id);
  speed::ParameterServerJob speed = world.profiles.parameter_servers[id.index()];
  const std::int64_t batch = world.profiles.jobs[id.index()].batch;
  if (batch > 0) speed.batch = static_cast<double>(batch);
  pd_ors::TrainingJob job;
  job.max_workers = crews.back().workers;
  job.workers_per_server = speed.workers_per_server;
  for (const pd_ors::Crew& crew : crews) {
    job.workers_per_server =
        std::max(job.workers_per_server, static_cast<double>(crew.workers) / crew.servers);
  }
  const double unit = speed.reference / slots.seconds();
  job.internal_cost = speed.seconds(speed.internal_gbps) * unit;
  job.external_cost = std::max(job.internal_cost, speed.seconds(speed.external_gbps) * unit);
  const auto groups = workload.groups_of(workload.job(id));
  job.worker = pd_ors::demand_of(world.instance, workload.shape(groups[workers].shape));
  job.server = pd_ors::demand_of(world.instance, workload.shape(groups[1 - workers].shape));
  return job;
}

pd_ors::TrainingJob reserving_job(const smd::OfferedJob& offered, const RelaxedSlots& slots) {
  pd_ors::TrainingJob job;
  double fastest = 0.0;
  for (const smd::OfferedCrew& crew : offered.crews) fastest = std::max(fastest, crew.rate);
  job.internal_cost = job.external_cost = 1.0 / (fastest * slots.seconds());
  for (const double amount : offered.limit) job.worker.push_back(amount / kAmountUnit);
  job.server.assign(job.worker.size(), 0.0);
  return job;
}

}  // namespace

bool earns_utility(std::string_view policy) {
  return is_training(policy) || policy == "smd" || policy == "optimus" || policy == "esw";
}

double earned_utility(const PaperWorld& world, std::span<const model::JobRecord> records) {
  double sum = 0.0;
  for (const model::JobRecord& record : records) {
    if (record.finished()) sum += value_at(world, record, record.end());
  }
  return sum;
}

SlotRelaxation slot_relaxation(std::string_view policy, const PaperWorld& world,
                               std::span<const model::JobRecord> records) {
  BERTH_EXPECT(earns_utility(policy) && !records.empty());
  const RelaxedSlots slots(records);
  SlotRelaxation relaxation;
  pd_ors::SlotInstance& instance = relaxation.instance;
  instance.slots = slots.count;
  smd::OfferedWorld offered;
  if (is_training(policy)) {
    instance.capacity = pd_ors::capacity_of(world.instance);
    instance.resources = instance.capacity.size() / world.instance.cluster.machines();
  } else {
    offered = smd::offered_world(policy, world);
    for (const double amount : offered.capacity) instance.capacity.push_back(amount / kAmountUnit);
    instance.resources = instance.capacity.size();
  }
  for (const model::JobRecord& record : records) {
    if (record.work <= 0) continue;
    pd_ors::TrainingJob& job = instance.jobs.emplace_back(
        is_training(policy) ? training_job(world, record.job, slots)
                            : reserving_job(offered.jobs[record.job.index()], slots));
    job.arrival = static_cast<std::int32_t>((record.arrival - slots.begin) / slots.length);
    job.samples = static_cast<double>(record.work) / kSecond;
    for (std::int32_t t = job.arrival; t < slots.count; ++t)
      job.utilities.push_back(value_at(world, record, slots.begin + t * slots.length));
  }
  std::ranges::stable_sort(instance.jobs, {}, &pd_ors::TrainingJob::arrival);
  relaxation.price = pd_ors::offline_prices(instance, {.rounds = kRelaxedRounds}).price;
  return relaxation;
}

}  // namespace berth::papers
