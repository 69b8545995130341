// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "berth/papers/pd_ors/slot_ledger.hpp"

namespace berth::papers::pd_ors {

/// What one slot offers one job: prices of its tasks and free amounts by machine.
struct SlotMarket {
  const TrainingJob* job = nullptr;
  std::size_t resources = 1;
  std::vector<double> worker_price = {},
                      server_price = {};  ///< by machine: sum_r p alpha, sum_r p beta
  std::vector<double> free = {};          ///< by machine, then resource

  [[nodiscard]] std::size_t machines() const { return worker_price.size(); }
  [[nodiscard]] bool fits(std::size_t machine, std::int32_t workers, std::int32_t servers) const;
  /// Most tasks of this demand that the machine holds beside `workers` and `servers`.
  [[nodiscard]] std::int32_t room(std::size_t machine, std::span<const double> demand) const;

  bool operator==(const SlotMarket&) const = default;
};

/// Which room a job sees.
enum class Room {
  left,  ///< what other jobs have not committed
  all,   ///< that of empty machines, at the prices of what is committed
};

[[nodiscard]] SlotMarket market_of(const TrainingJob& job, const SlotLedger& ledger,
                                   std::int32_t slot, Room room = Room::left,
                                   double price_factor = 1.0);

/// A way to train in one slot.
struct SlotOffer {
  double cost = std::numeric_limits<double>::infinity();  ///< infinite: there is none
  std::vector<MachineShare> machines = {};

  [[nodiscard]] bool possible() const { return !machines.empty(); }
};

/// Finds the cheapest way to train at least so many samples in one slot: theta(t, v).
class SlotSolver {
 public:
  SlotSolver() = default;
  SlotSolver(const SlotSolver&) = delete;
  SlotSolver& operator=(const SlotSolver&) = delete;
  virtual ~SlotSolver() = default;
  [[nodiscard]] virtual SlotOffer cheapest(const SlotMarket& market, double samples) const = 0;
  /// Most samples of any slot: the DP asks for no more.
  [[nodiscard]] virtual double most_samples(const TrainingJob& job) const {
    return job.max_workers / job.internal_cost;
  }
};

/// PD-ORS's internal case: all workers and servers on one machine, the exact minimum over machines.
/// O(machines R)
class ColocatedSlots final : public SlotSolver {
 public:
  [[nodiscard]] SlotOffer cheapest(const SlotMarket& market, double samples) const override;
};

/// OASiS's COST_t: workers on machines [0, worker_machines), servers on the others, each filled by
/// ascending price. Optimal, as the tasks of a kind are equal and prices are fixed in the slot.
/// O(machines (R + log machines))
class SeparateSlots final : public SlotSolver {
 public:
  explicit SeparateSlots(std::size_t worker_machines) : worker_machines_(worker_machines) {}
  [[nodiscard]] SlotOffer cheapest(const SlotMarket& market, double samples) const override;
  [[nodiscard]] double most_samples(const TrainingJob& job) const override {
    return job.max_workers / job.external_cost;
  }

 private:
  std::size_t worker_machines_;
};

/// The cheaper of one machine (ties: the one that it fills best) and of several, filled greedily
/// by ascending price, then most room: servers first, then workers. O(machines (R + log machines))
class PackedSlots final : public SlotSolver {
 public:
  [[nodiscard]] SlotOffer cheapest(const SlotMarket& market, double samples) const override;
};

/// All integer ways of one slot, internal and external, for tests: exponential in machines.
class ExhaustiveSlots final : public SlotSolver {
 public:
  [[nodiscard]] SlotOffer cheapest(const SlotMarket& market, double samples) const override;
};

}  // namespace berth::papers::pd_ors
