// SPDX-License-Identifier: Apache-2.0
/// PD-ORS against OASiS, FIFO and DRF by total utility, with Berth's plans and the bound of the
/// offline optimum.
#include "experiment.hpp"
#include "pd_ors_world.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/papers/pd_ors/admission.hpp"
#include "berth/papers/pd_ors/distributed_slots.hpp"
#include "berth/papers/pd_ors/pooled_bound.hpp"
#include "berth/papers/pd_ors/replanning.hpp"
#include "berth/papers/pd_ors/slot_baselines.hpp"
#include "berth/papers/slot_proof.hpp"

namespace berth::bench {
namespace {

using namespace papers::pd_ors;

constexpr std::int32_t kUnits = 40;  ///< Q: parts of a job's work

/// Rows in the order of their first value.
class Table {
 public:
  void add(const std::string& setting, const std::string& metric, const std::string& scheduler,
           double value) {
    for (ResultRow& row : rows_) {
      if (row.setting == setting && row.metric == metric && row.scheduler == scheduler) {
        row.by_seed.push_back(value);
        return;
      }
    }
    rows_.push_back({setting, scheduler, metric, {value}});
  }
  [[nodiscard]] const std::vector<ResultRow>& rows() const { return rows_; }

 private:
  std::vector<ResultRow> rows_;
};

/// Least utility that L counts, as a share of the largest: the formula as it is lets a critical job
/// at the last slot, 1e-30, set the prices of all, and no floor is in it.
constexpr double kFloor = 1e-9;
constexpr double kHighFloor = 0.1;

struct Runs {
  AdmissionRun pd_ors, oasis;
};

Runs admit(const SlotInstance& instance, std::uint64_t seed, double floor) {
  const std::size_t half = instance.machines() / 2;
  return {
      run_admission(instance, pd_ors_prices(instance, floor), DistributedSlots({.seed = seed}),
                    kUnits),
      run_admission(instance, oasis_prices(instance, half, floor), SeparateSlots(half), kUnits)};
}

void add_instance(const std::string& setting, const SlotWorld& world, std::uint64_t seed,
                  Table& table) {
  const SlotInstance& instance = world.instance;
  const Runs paper = admit(instance, seed, kFloor), high = admit(instance, seed, kHighFloor);
  const PooledPrices offline = offline_prices(instance);
  const double bound = papers::proved_utility(instance, offline.price);
  const std::pair<const char*, double> utilities[] = {
      {"PD-ORS", paper.pd_ors.utility},
      {"OASiS", paper.oasis.utility},
      {"PD-ORS, L from 10 %", high.pd_ors.utility},
      {"OASiS, L from 10 %", high.oasis.utility},
      {"FIFO", total_utility(instance, fifo_schedules(instance, world.fixed_workers))},
      {"DRF", total_utility(instance, drf_schedules(instance))},
      {"berth", total_utility(instance, replanned_schedules(instance, {.seed = seed}))},
      {"berth, irrevocable",
       total_utility(instance, replanned_schedules(instance, {.seed = seed, .irrevocable = true}))},
      {"bound", bound}};
  for (const auto& [scheduler, utility] : utilities)
    table.add(setting, "total utility", scheduler, utility);
  for (const auto& [scheduler, utility] : utilities)
    table.add(setting, "total utility / bound", scheduler, bound > 0.0 ? utility / bound : 1.0);
  const std::pair<const char*, std::vector<double>> prices[] = {
      {"PD-ORS", paper.pd_ors.ledger.mean_prices()},
      {"PD-ORS, L from 10 %", high.pd_ors.ledger.mean_prices()},
      {"OASiS", paper.oasis.ledger.mean_prices()},
      {"berth", offline.price}};
  for (const auto& [scheduler, price] : prices) {
    table.add(setting, "bound of the optimum by the last prices", scheduler,
              papers::proved_utility(instance, price));
    table.add(setting, "rent of all slots at the last prices", scheduler,
              pooled_rent(instance, price));
  }
  table.add(setting, "jobs that could end alone, share", "all", world.feasible);
}

struct Setting {
  const char* name;
  SlotWorldOptions world;
};

const Setting kSettings[] = {
    {"20 machines", {}},
    {"20 machines, work / 10", {.work = 0.1}},
    {"10 machines, work / 10", {.machines = 10, .work = 0.1}},
    {"20 machines, work / 10, mix 30/69/1", {.work = 0.1, .insensitive = 0.3, .sensitive = 0.69}},
};

const Setting kSmoke[] = {
    {"4 machines, work / 10", {.slots = 6, .machines = 4, .jobs = 6, .work = 0.1}}};

}  // namespace

std::vector<ResultRow> run_pd_ors(const ExperimentOptions& options) {
  Table table;
  for (const Setting& setting : options.smoke ? std::span<const Setting>(kSmoke) : kSettings) {
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed)
      add_instance(setting.name, make_slot_world(setting.world, seed), seed, table);
    options.ended(table.rows());
  }
  return table.rows();
}

}  // namespace berth::bench
