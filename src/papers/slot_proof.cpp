// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/slot_proof.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "berth/certify/slots.hpp"
#include "berth/certify/worker_slots.hpp"

namespace berth::papers {
namespace {

std::vector<std::int64_t> fixed(std::span<const double> price) {
  std::vector<std::int64_t> units;
  for (const double p : price) {
    const double scaled = std::ldexp(std::max(p, 0.0), certify::kSlotPriceLog2);
    units.push_back(std::llround(std::min(scaled, 0x1p60)));
  }
  return units;
}

}  // namespace

double proved_utility(const pd_ors::SlotInstance& instance, std::span<const double> price) {
  certify::SlotTrainings trainings{.slots = instance.slots,
                                   .resources = instance.resources,
                                   .capacity = instance.capacity,
                                   .jobs = {}};
  for (const pd_ors::TrainingJob& job : instance.jobs) {
    certify::SlotTraining& training = trainings.jobs.emplace_back(
        certify::SlotTraining{.arrival = job.arrival,
                              .samples = job.samples,
                              .max_workers = job.max_workers,
                              .workers_per_server = job.workers_per_server,
                              .internal_cost = job.internal_cost,
                              .external_cost = job.external_cost,
                              .worker = job.worker,
                              .server = job.server});
    for (std::int32_t t = job.arrival; t < instance.slots; ++t)
      training.utility.push_back(job.utility(t));
  }
  return certify::prove_slots(trainings, fixed(price));
}

double proved_utility(const Knapsack& knapsack, std::span<const double> price) {
  certify::SlotTrainings trainings{
      .slots = 1, .resources = knapsack.resources(), .capacity = knapsack.capacity, .jobs = {}};
  for (std::size_t i = 0; i < knapsack.items(); ++i) {
    const std::span<const double> size = knapsack.size_of(i);
    trainings.jobs.push_back({.worker = {size.begin(), size.end()},
                              .server = std::vector<double>(knapsack.resources(), 0.0),
                              .utility = {knapsack.utility[i]}});
  }
  return certify::prove_slots(trainings, fixed(price));
}

double proved_utility(const gadget::RingInstance& instance, std::span<const double> price) {
  static_assert(certify::kWorkPriceLog2 == certify::kSlotPriceLog2);
  std::vector<certify::WorkJob> jobs;
  for (const gadget::RingJob& job : instance.jobs) {
    certify::WorkJob& work = jobs.emplace_back();
    work.arrival = job.arrival;
    work.most = job.most;
    for (std::int64_t n = 0; n <= job.budget; ++n) work.utility.push_back(job.utility(n));
  }
  return certify::prove_worker_slots(jobs, instance.cluster.total_gpus(), fixed(price));
}

}  // namespace berth::papers
