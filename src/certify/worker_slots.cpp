// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/worker_slots.hpp"

#include "exact.hpp"
#include "job_number.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "berth/base/error.hpp"
#include "berth/base/int128.hpp"

namespace berth::certify {
namespace {

constexpr std::size_t kMostWorkSlots = 4096;
constexpr std::int64_t kHighestWorkPrice = std::int64_t{1} << 60, kMostGpus = std::int64_t{1} << 31;
constexpr double kLargestWorkUtility = 0x1p40;

[[noreturn]] void refuse_work(const char* field, const std::string& problem) {
  throw InputError({.file = "", .line = 0, .field = field}, problem);
}

/// The most that worker-slots leave after their rent.
Int128 best_work_payoff(const WorkJob& job, std::span<const std::int64_t> prices) {
  std::vector<std::int64_t> cheapest(prices.begin() + job.arrival, prices.end());
  std::ranges::sort(cheapest);
  Int128 best = fixed_up(job.utility.front(), kWorkPriceLog2), rent = 0;
  std::size_t n = 0;
  for (const std::int64_t price : cheapest) {
    for (std::int32_t w = 0; w < job.most; ++w) {
      if (++n == job.utility.size()) return best;
      rent += price;
      best = std::max(best, fixed_up(job.utility[n], kWorkPriceLog2) - rent);
    }
  }
  return best;
}

}  // namespace

double prove_worker_slots(std::span<const WorkJob> jobs, std::int64_t gpus,
                          std::span<const std::int64_t> prices) {
  if (prices.empty() || prices.size() > kMostWorkSlots)
    refuse_work("prices", "slots out of 1 to 4,096");
  if (gpus < 0 || gpus > kMostGpus) refuse_work("gpus", "GPUs out of range: 0 to 2^31");
  Int128 bound = 0;
  for (const std::int64_t price : prices) {
    if (price < 0 || price > kHighestWorkPrice)
      refuse_work("prices", "a price is below 0 or above 2^60");
    bound += Int128{price} * gpus;
  }
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const WorkJob& job = jobs[j];
    expect_of_job(job.arrival >= 0 && static_cast<std::size_t>(job.arrival) < prices.size(),
                  "arrival", j, "arrives in no slot");
    expect_of_job(job.most >= 1, "most", j, "may have no worker");
    expect_of_job(
        !job.utility.empty() &&
            std::ranges::all_of(job.utility,
                                [](double u) { return u >= 0.0 && u <= kLargestWorkUtility; }),
        "utility", j, "has utilities out of range: 0 to 2^40");
    bound += best_work_payoff(job, prices);
  }
  return double_up(bound, kWorkPriceLog2);
}

}  // namespace berth::certify
