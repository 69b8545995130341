// SPDX-License-Identifier: Apache-2.0
#include "utility_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "berth/certify/slots.hpp"
#include "berth/papers/slot_relaxation.hpp"

namespace berth::apps {
namespace {

/// What the judge is told: jobs and machines, and prices of its unit.
double judged_utility(const papers::SlotRelaxation& relaxation) {
  const papers::pd_ors::SlotInstance& instance = relaxation.instance;
  certify::SlotTrainings trainings{.slots = instance.slots,
                                   .resources = instance.resources,
                                   .capacity = instance.capacity,
                                   .jobs = {}};
  for (const papers::pd_ors::TrainingJob& job : instance.jobs) {
    trainings.jobs.push_back({.arrival = job.arrival,
                              .samples = job.samples,
                              .max_workers = job.max_workers,
                              .workers_per_server = job.workers_per_server,
                              .internal_cost = job.internal_cost,
                              .external_cost = job.external_cost,
                              .worker = job.worker,
                              .server = job.server,
                              .utility = job.utilities});
  }
  std::vector<std::int64_t> prices;
  for (const double price : relaxation.price) {
    const double units = std::ldexp(std::max(price, 0.0), certify::kSlotPriceLog2);
    prices.push_back(std::llround(std::min(units, 0x1p60)));
  }
  return certify::prove_slots(trainings, prices);
}

}  // namespace

void print_utility_bound(std::string_view policy, const papers::PaperWorld& world,
                         std::span<const model::JobRecord> records) {
  const auto finished = [](const model::JobRecord& record) { return record.finished(); };
  if (std::ranges::none_of(records, finished)) return;
  const double earned = papers::earned_utility(world, records);
  const double most = judged_utility(papers::slot_relaxation(policy, world, records));
  fmt::print("  {:<28}{:.6g}\n", "utility", earned);
  fmt::print("  {:<28}{:.6g} (competitive ratio at most {:.3f})\n", "bound, by the judge", most,
             earned > 0.0 ? most / earned : INFINITY);
}

}  // namespace berth::apps
