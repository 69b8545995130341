// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/slots.hpp"

#include "exact.hpp"
#include "job_number.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "berth/base/error.hpp"
#include "berth/base/int128.hpp"

namespace berth::certify {
namespace {

constexpr int kAmountLog2 = 30;               ///< unit of demands and capacities
constexpr Int128 kAllWork = Int128{1} << 32;  ///< the work of a job, in parts
constexpr std::int32_t kMostSlots = 4096;     ///< sums of rents stay within 126 bits
constexpr double kLargest = 0x1p30;           ///< demand or capacity
constexpr double kLargestUtility = 0x1p40;
constexpr std::int64_t kHighest = std::int64_t{1} << 60;  ///< price
/// Machines are taken to hold a little more than they do, as doubles are rounded.
constexpr double kSlack = 1e-9;

[[noreturn]] void refuse(const char* field, const std::string& problem) {
  throw InputError({.file = "", .line = 0, .field = field}, problem);
}

bool amount(double x) { return x >= 0.0 && x <= kLargest; }
bool utility(double x) { return x >= 0.0 && x <= kLargestUtility; }

void check_job(const SlotTrainings& trainings, std::size_t j) {
  const SlotTraining& job = trainings.jobs[j];
  expect_of_job(job.arrival >= 0 && job.arrival < trainings.slots, "arrival", j,
                "arrives in no slot");
  expect_of_job(job.samples > 0.0 && std::isfinite(job.samples), "samples", j, "has no samples");
  expect_of_job(job.max_workers >= 1, "max_workers", j, "may have no worker");
  expect_of_job(job.workers_per_server > 0.0, "workers_per_server", j, "has no servers");
  expect_of_job(job.internal_cost > 0.0 && job.internal_cost <= job.external_cost &&
                    std::isfinite(job.external_cost),
                "internal_cost", j, "needs 0 < internal cost <= external cost");
  expect_of_job(
      job.worker.size() == trainings.resources && job.server.size() == trainings.resources &&
          std::ranges::all_of(job.worker, amount) && std::ranges::all_of(job.server, amount),
      "worker", j, "has demands out of range");
  expect_of_job(std::cmp_equal(job.utility.size(), trainings.slots - job.arrival) &&
                    std::ranges::all_of(job.utility, utility),
                "utility", j, "has utilities out of range");
}

void check_all(const SlotTrainings& trainings, std::span<const std::int64_t> prices) {
  if (trainings.slots > kMostSlots) refuse("slots", "there are more than 4,096 slots");
  if (trainings.slots < 1 || trainings.resources < 1 ||
      trainings.capacity.size() % trainings.resources != 0 ||
      !std::ranges::all_of(trainings.capacity, amount))
    refuse("capacity", "the cluster has capacities out of range");
  if (prices.size() != static_cast<std::size_t>(trainings.slots) * trainings.resources)
    refuse("prices", "there is not one price for each slot and resource");
  for (const std::int64_t price : prices) {
    if (price < 0 || price > kHighest) refuse("prices", "a price is below 0 or above 2^60");
  }
  for (std::size_t j = 0; j < trainings.jobs.size(); ++j) check_job(trainings, j);
}

/// Most workers that an empty machine holds beside their servers.
std::int32_t workers_on_one_machine(const SlotTrainings& trainings, const SlotTraining& job) {
  const auto holds = [&](std::size_t machine, std::int32_t workers) {
    const double servers = std::ceil(workers / job.workers_per_server * (1.0 - kSlack));
    for (std::size_t r = 0; r < trainings.resources; ++r) {
      const double room = trainings.capacity[machine * trainings.resources + r];
      const double used = job.worker[r] * workers + job.server[r] * servers;
      if (used > room + kSlack * (1.0 + used)) return false;
    }
    return true;
  };
  std::int32_t most = 0;
  for (std::size_t m = 0; m < trainings.capacity.size() / trainings.resources; ++m) {
    while (most < job.max_workers && holds(m, most + 1)) ++most;
  }
  return most;
}

/// Most workers of a slot, with their parts of servers in the whole cluster.
std::int32_t workers_of_cluster(const SlotTrainings& trainings, const SlotTraining& job) {
  double most = job.max_workers;
  for (std::size_t r = 0; r < trainings.resources; ++r) {
    double room = 0.0;
    for (std::size_t e = r; e < trainings.capacity.size(); e += trainings.resources)
      room += trainings.capacity[e];
    const double demand = job.worker[r] + job.server[r] / job.workers_per_server;
    if (demand > 0.0) most = std::min(most, room / demand * (1.0 + kSlack) + kSlack);
  }
  return static_cast<std::int32_t>(most);
}

/// Workers of a slot that train at one speed: `work` parts in all for `workers`.
struct Piece {
  Int128 workers = 0, work = 0;
};

struct PricedPiece {
  Int128 rent = 0, work = 0;  ///< work > 0
};

constexpr Int128 kDearest = Int128{1} << 80;  ///< more than any utility, 2^72
constexpr int kUnitLog2 = 30;                 ///< rents of a part of the work

/// A job at the prices.
class TrainingRent {
 public:
  TrainingRent(const SlotTrainings& trainings, const SlotTraining& job,
               std::span<const std::int64_t> prices)
      : trainings_(trainings), job_(job), prices_(prices) {
    const std::int32_t most = workers_of_cluster(trainings, job);
    const std::int32_t near = std::min(most, workers_on_one_machine(trainings, job));
    const Int128 near_work = near * parts(job.internal_cost);
    const Int128 all_work = most * parts(job.external_cost);
    if (near > 0) pieces_.push_back({near, near_work});
    if (all_work > near_work && near < most) pieces_.push_back({most - near, all_work - near_work});
  }

  /// The most that a completion leaves after its rent, at least 0, in units of prices.
  [[nodiscard]] Int128 best_payoff() const {
    Int128 best = 0;
    std::vector<PricedPiece> offered;
    for (std::int32_t t = job_.arrival; t < trainings_.slots; ++t) {
      const Int128 each = worker_price(t);
      for (const Piece& piece : pieces_) offered.push_back(priced(piece, each));
      const Int128 worth =
          fixed_up(job_.utility[static_cast<std::size_t>(t - job_.arrival)], kSlotPriceLog2);
      if (worth > best) best = std::max(best, worth - least_rent(offered));
    }
    return best;
  }

 private:
  /// Parts of the work that a worker does in a slot, at most all.
  [[nodiscard]] Int128 parts(double cost) const {
    const double share = 1.0 / (cost * job_.samples) * (1.0 + kSlack);
    return fixed_up(std::min(share, 1.0), 32);
  }

  /// Of a worker with its part of a server in the slot; beyond kDearest it counts as that.
  [[nodiscard]] Int128 worker_price(std::int32_t slot) const {
    Int128 price = 0;
    for (std::size_t r = 0; r < trainings_.resources; ++r) {
      const double demand =
          (job_.worker[r] + job_.server[r] / job_.workers_per_server) * (1.0 - kSlack);
      const Int128 fixed = fixed_down(std::min(demand, kLargest), kAmountLog2);
      price += (prices_[static_cast<std::size_t>(slot) * trainings_.resources + r] * fixed) >>
               kAmountLog2;
      price = std::min(price, kDearest);
    }
    return price;
  }

  [[nodiscard]] static PricedPiece priced(const Piece& piece, Int128 each) {
    PricedPiece result{std::min(each, kDearest / piece.workers) * piece.workers, piece.work};
    if (piece.work <= kAllWork) return result;
    return {result.rent * kAllWork / piece.work, kAllWork};
  }

  /// Of all the work. For any rent l of a part, it is at least
  /// l x work - sum over pieces of max(0, l x work of the piece - its rent); l is that of the piece
  /// with which the cheapest ones suffice. None do: more than any utility.
  [[nodiscard]] static Int128 least_rent(std::vector<PricedPiece> pieces) {
    const auto unit = [](const PricedPiece& p) {
      return static_cast<double>(p.rent) / static_cast<double>(p.work);
    };
    std::ranges::sort(pieces, {}, unit);
    Int128 sum = 0;
    auto marginal = pieces.begin();
    for (; marginal != pieces.end(); ++marginal) {
      sum += marginal->work;
      if (sum >= kAllWork) break;
    }
    if (marginal == pieces.end()) return kImpossible;
    const Int128 price = std::min((marginal->rent << kUnitLog2) / marginal->work, kDearest);
    Int128 rent = price * kAllWork;
    for (const PricedPiece& piece : pieces)
      rent -= std::max<Int128>(0, price * piece.work - (piece.rent << kUnitLog2));
    return std::max<Int128>(0, rent >> kUnitLog2);
  }

  const SlotTrainings& trainings_;
  const SlotTraining& job_;
  std::span<const std::int64_t> prices_;
  std::vector<Piece> pieces_;  ///< the same in all slots
};

/// sum_t sum_r p C, rounded up.
Int128 rent_of_all(const SlotTrainings& trainings, std::span<const std::int64_t> prices) {
  std::vector<Int128> total(trainings.resources, 0);
  for (std::size_t e = 0; e < trainings.capacity.size(); ++e)
    total[e % trainings.resources] += fixed_up(trainings.capacity[e], kAmountLog2);
  Int128 rent = 0;
  for (std::size_t k = 0; k < prices.size(); ++k) {
    if (prices[k] == 0) continue;
    if (total[k % trainings.resources] > (kImpossible >> 8) / prices[k])
      refuse("prices", "all slots together have a rent beyond 2^118");
    rent += ((prices[k] * total[k % trainings.resources]) >> kAmountLog2) + 1;
  }
  return rent;
}

}  // namespace

double prove_slots(const SlotTrainings& trainings, std::span<const std::int64_t> prices) {
  check_all(trainings, prices);
  Int128 bound = rent_of_all(trainings, prices);
  for (const SlotTraining& job : trainings.jobs)
    bound += TrainingRent(trainings, job, prices).best_payoff();
  return double_up(bound, kSlotPriceLog2);
}

}  // namespace berth::certify
