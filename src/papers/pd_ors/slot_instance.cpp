// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/slot_instance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"
#include "berth/speed/loss_curve.hpp"

namespace berth::papers::pd_ors {
namespace {

void check_shape(const TrainingJob& job, const SlotShare& share) {
  BERTH_EXPECT(share.slot >= job.arrival);
  BERTH_EXPECT(job.allows(share.workers()));
  BERTH_EXPECT(share.servers() >= job.servers_for(share.workers()));
}

[[noreturn]] void refuse(std::size_t job, const char* problem) {
  throw InputError({.file = "", .field = "jobs[" + std::to_string(job) + "]"}, problem);
}

void check_job(const SlotInstance& instance, std::size_t index) {
  const TrainingJob& job = instance.jobs[index];
  const auto positive = [](double x) { return x > 0.0 && std::isfinite(x); };
  if (job.arrival < 0 || job.arrival >= instance.slots) refuse(index, "arrives outside the slots");
  if (index > 0 && instance.jobs[index - 1].arrival > job.arrival)
    refuse(index, "arrives before the job before it");
  if (!positive(job.samples)) refuse(index, "has no samples to train");
  if (job.max_workers < 1) refuse(index, "may have no worker");
  if (!positive(job.workers_per_server)) refuse(index, "has no number of workers per server");
  if (!positive(job.internal_cost) || !(job.internal_cost <= job.external_cost) ||
      !std::isfinite(job.external_cost))
    refuse(index, "needs 0 < internal cost <= external cost of a sample");
  if (job.worker.size() != instance.resources || job.server.size() != instance.resources)
    refuse(index, "has not one demand of worker and server a resource");
  const auto amount = [](double x) { return x >= 0.0 && std::isfinite(x); };
  if (!std::ranges::all_of(job.worker, amount) || !std::ranges::all_of(job.server, amount))
    refuse(index, "has a demand that is negative or not finite");
  if (std::ranges::none_of(job.worker, positive)) refuse(index, "has workers that need nothing");
  const auto descends = [](const Crew& a, const Crew& b) { return a.workers >= b.workers; };
  if (!job.crews.empty() && (std::ranges::adjacent_find(job.crews, descends) != job.crews.end() ||
                             job.crews.back().workers != job.max_workers))
    refuse(index, "needs crews of ascending workers up to the most");
  if (std::ranges::adjacent_find(job.utilities, std::less()) != job.utilities.end())
    refuse(index, "has a utility that rises");
}

}  // namespace

double TrainingJob::utility(std::int32_t completion) const {
  if (!utilities.empty()) {
    const auto after = static_cast<std::size_t>(completion - arrival);
    return utilities[std::min(after, utilities.size() - 1)];
  }
  return speed::sigmoid_of_time(c1, c2, c3, static_cast<double>(completion - arrival));
}

std::int32_t TrainingJob::servers_for(std::int32_t workers) const {
  if (!crews.empty()) {
    const auto crew = std::ranges::lower_bound(crews, workers, {}, &Crew::workers);
    return crew == crews.end() ? crews.back().servers : crew->servers;
  }
  return static_cast<std::int32_t>(
      std::ceil(static_cast<double>(workers) / workers_per_server * (1.0 - kRoundingSlack)));
}

double TrainingJob::workers_for(double amount, double cost) const {
  const double least = std::ceil(amount * cost * (1.0 - kRoundingSlack));
  if (crews.empty()) return least;
  const auto crew = std::ranges::find_if(
      crews, [&](const Crew& c) { return static_cast<double>(c.workers) >= least; });
  return crew == crews.end() ? max_workers + 1.0 : static_cast<double>(crew->workers);
}

bool TrainingJob::allows(std::int32_t workers) const {
  if (crews.empty()) return workers <= max_workers;
  return std::ranges::binary_search(crews, workers, {}, &Crew::workers);
}

double SlotInstance::total_capacity() const {
  return std::accumulate(capacity.begin(), capacity.end(), 0.0);
}

std::int32_t SlotShare::workers() const {
  std::int32_t sum = 0;
  for (const MachineShare& m : machines) sum += m.workers;
  return sum;
}

std::int32_t SlotShare::servers() const {
  std::int32_t sum = 0;
  for (const MachineShare& m : machines) sum += m.servers;
  return sum;
}

double SlotShare::samples(const TrainingJob& job) const {
  const double cost = machines.size() == 1 ? job.internal_cost : job.external_cost;
  return static_cast<double>(workers()) / cost;
}

double earned(const TrainingJob& job, const JobSchedule& schedule) {
  double trained = 0.0;
  std::int32_t completion = job.arrival;
  for (const SlotShare& share : schedule) {
    trained += share.samples(job);
    if (share.workers() > 0) completion = share.slot;
  }
  return trained >= job.samples * (1.0 - 2.0 * kRoundingSlack) ? job.utility(completion) : 0.0;
}

double total_utility(const SlotInstance& instance, std::span<const JobSchedule> schedules) {
  BERTH_EXPECT(schedules.size() == instance.jobs.size());
  const std::size_t width = instance.capacity.size();
  std::vector<double> used(static_cast<std::size_t>(instance.slots) * width, 0.0);
  double sum = 0.0;
  for (std::size_t j = 0; j < schedules.size(); ++j) {
    const TrainingJob& job = instance.jobs[j];
    std::int32_t before = -1;
    for (const SlotShare& share : schedules[j]) {
      BERTH_EXPECT(share.slot > before && share.slot < instance.slots);
      before = share.slot;
      check_shape(job, share);
      for (const MachineShare& m : share.machines) {
        BERTH_EXPECT(m.workers >= 0 && m.servers >= 0);
        double* at =
            &used[static_cast<std::size_t>(share.slot) * width + m.machine * instance.resources];
        for (std::size_t r = 0; r < instance.resources; ++r)
          at[r] += job.worker[r] * m.workers + job.server[r] * m.servers;
      }
    }
    sum += earned(job, schedules[j]);
  }
  for (std::size_t k = 0; k < used.size(); ++k) {
    BERTH_EXPECT(used[k] <= instance.capacity[k % width] * (1.0 + kRoundingSlack));
  }
  return sum;
}

void check_instance(const SlotInstance& instance) {
  const auto refuse_cluster = [](const char* problem) {
    throw InputError({.file = "", .field = "cluster"}, problem);
  };
  if (instance.slots < 1) refuse_cluster("has no slots");
  if (instance.resources < 1 || instance.capacity.empty() ||
      instance.capacity.size() % instance.resources != 0)
    refuse_cluster("has not one capacity a machine and resource");
  for (const double c : instance.capacity) {
    if (!(c >= 0.0) || !std::isfinite(c)) refuse_cluster("has a capacity below 0 or not finite");
  }
  for (std::size_t j = 0; j < instance.jobs.size(); ++j) check_job(instance, j);
}

}  // namespace berth::papers::pd_ors
