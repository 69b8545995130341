// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/online.hpp"

#include "demand_forecast.hpp"
#include "reservation_table.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <tuple>
#include <utility>

#include "berth/planner_model/precedence.hpp"
#include "berth/solver/occupancy.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {
namespace {

/// Part of the free room whose use since the last forecast makes a new one due. Chosen, not tuned.
constexpr double kRoomGone = 0.125;
/// Share of all GPUs: when at most this is free, used machines are packed too. Decision 8: 15 %
/// give no more.
constexpr double kLate = 0.05;
constexpr std::int64_t kMany = 64;  ///< jobs of a batch with its own forecast; chosen, not tuned

class Online {
 public:
  /// @param occupancy  of all machines; holds all jobs that will arrive
  Online(Occupancy& occupancy, const OnlineOptions& options, const StopToken& stop)
      : occupancy_(occupancy),
        valuation_(occupancy.valuation()),
        options_(options),
        stop_(stop),
        forecast_(valuation_),
        reservations_(occupancy, forecast_),
        all_milli_(1000.0 * static_cast<double>(valuation_.instance().cluster.gpus())) {}

  void arrive(std::span<const JobId> batch) {
    std::vector<DemandClass> classes;
    before_milli_ = static_cast<double>(forecast_.milli());
    for (const JobId job : batch) classes.push_back(forecast_.observe(job));
    if (due(std::ssize(batch))) plan_reservations(batch, classes);
    for (const std::size_t i : order(batch)) place(batch[i], classes[i]);
  }

  OnlineResult result() {
    result_.placed = occupancy_.placement();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool due(std::int64_t batch) const {
    if (reservations_.free_milli() == 0) return false;
    return batch >= kMany || forecast_.jobs() >= 2 * jobs_then_ ||
           static_cast<double>(reservations_.free_milli()) <=
               (1.0 - kRoomGone) * static_cast<double>(free_then_);
  }

  /// Expected demand of this batch and the later ones, GPU thousandths.
  [[nodiscard]] double expected_milli() const {
    if (options_.load <= 0.0)
      return options_.expect * static_cast<double>(reservations_.free_milli());
    return options_.load * all_milli_ - before_milli_;
  }

  /// Packs the batch and the jobs expected after it on the unused machines; without such machines,
  /// when little is free, on all machines with room.
  void plan_reservations(std::span<const JobId> batch, std::span<const DemandClass> classes) {
    jobs_then_ = forecast_.jobs();
    free_then_ = reservations_.free_milli();
    std::vector<MachineId> machines = reservations_.unused_machines();
    if (machines.empty()) {
      if (static_cast<double>(reservations_.free_milli()) > kLate * all_milli_) return;
      machines = reservations_.machines_with_room();
    }
    if (machines.empty()) return;
    reservations_.cancel(machines);
    std::vector<std::int64_t> arrived(forecast_.classes(), 0);
    double asked = 0.0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      ++arrived[classes[i]];
      asked += static_cast<double>(forecast_.shape(classes[i]).total_milli());
    }
    const auto jobs =
        forecast_.expected(expected_milli() - asked, arrived, reservations_.reserved_by_class());
    if (jobs.empty()) return;
    ++result_.forecasts;
    const model::Workload expected = forecast_.workload(jobs);
    const planner_model::Valuation valuation({valuation_.instance().cluster, expected},
                                             valuation_.objective());
    Occupancy packed(valuation, machines);
    reserve_placed(machines, packed.room());
    std::vector<JobId> all;
    for (std::size_t j = 0; j < jobs.size(); ++j) all.emplace_back(j);
    pack(packed, all, {.relaxation_share = 1.0, .neighbourhoods = 0},
         {.gap = options_.gap, .stop = stop_});
    for (const JobEntry& entry : packed.entries()) {
      if (!entry.is_placed()) continue;
      reservations_.reserve(forecast_.demand_class(jobs[entry.job().index()]), entry.value,
                            entry.placement.tasks.front());
    }
  }

  /// Takes what placed jobs use on these machines.
  void reserve_placed(std::span<const MachineId> machines, planner_model::Room& room) const {
    for (const MachineId m : machines) {
      for (const Occupant& o : occupancy_.occupants(m)) {
        room.take(occupancy_.placed(o.job).tasks.front(),
                  shape_of(valuation_.instance().workload, o.job));
      }
    }
  }

  /// Order in which the jobs of a batch are placed: those that are hard to place first.
  [[nodiscard]] std::vector<std::size_t> order(std::span<const JobId> batch) const {
    const model::WorkloadView& workload = valuation_.instance().workload;
    std::vector<std::tuple<bool, double, std::int64_t, planner_model::Precedence, std::size_t>>
        keys;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      keys.emplace_back(!workload.job(batch[i]).required, -valuation_.best(batch[i]),
                        -shape_of(workload, batch[i]).needs[model::kCpu],
                        planner_model::precedence(valuation_, batch[i]), i);
    }
    std::ranges::sort(keys, std::less<>{});
    std::vector<std::size_t> order;
    for (const auto& key : keys) order.push_back(std::get<std::size_t>(key));
    return order;
  }

  void place(JobId job, DemandClass demand_class) {
    const bool required = valuation_.instance().workload.job(job).required;
    if (const auto task = reservations_.claim(demand_class, job)) {
      ++result_.used_reservation;
      return reservations_.commit({.job = job, .tasks = {*task}});
    }
    const auto found = reservations_.find_displacement(job);
    if (!found) return;
    if (found->gain < 0.0 && !options_.take_all && !required) {
      ++result_.refused;
      return;
    }
    reservations_.commit({.job = job, .tasks = {reservations_.apply(job, *found)}});
  }

  Occupancy& occupancy_;
  const planner_model::Valuation& valuation_;
  const OnlineOptions& options_;
  StopToken stop_;
  DemandForecast forecast_;
  ReservationTable reservations_;
  OnlineResult result_;
  double all_milli_;            ///< GPU thousandths of the cluster
  double before_milli_ = 0.0;   ///< demand of the jobs before this batch, GPU thousandths
  std::int64_t jobs_then_ = 0;  ///< at the last forecast
  std::int64_t free_then_ = 0;
};

}  // namespace

OnlineResult place_online(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
                          model::Placement kept, const OnlineOptions& options,
                          const planner_model::CouplingLimits* limits, const StopToken& stop) {
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < valuation.instance().cluster.machines(); ++m)
    machines.emplace_back(m);
  Occupancy occupancy(valuation, machines, limits);
  planner_model::LimitUsage& usage = occupancy.limit_usage();
  for (std::size_t l = 0; l < usage.size(); ++l) usage.allow(l, limits->capacity(l));
  std::vector<JobId> all(jobs.begin(), jobs.end());
  for (const model::JobPlacement& p : kept) all.push_back(p.job);
  occupancy.admit(all);
  for (model::JobPlacement& p : kept) occupancy.take(std::move(p));
  Online online(occupancy, options, stop);
  const auto size = static_cast<std::size_t>(options.batch);
  for (std::size_t i = 0; i < jobs.size() && !stop.requested(); i += size) {
    online.arrive(jobs.subspan(i, std::min(size, jobs.size() - i)));
  }
  return online.result();
}

}  // namespace berth::solver
