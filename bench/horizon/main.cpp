// SPDX-License-Identifier: Apache-2.0
// horizon_bench [NAME ...]: for each instance, seconds by the clock and of processor time, and
// certified gap of bound, plans and baselines. Traces from the folder in BERTH_TRACES;
// BASELINES=pools or machines runs baselines too.
#include "trace_rows.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "berth/certify/horizon.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/horizon/pool_timeline.hpp"
#include "berth/policy/backfill.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/horizon_makespan.hpp"
#include "berth/solver/horizon_plan.hpp"
#include "berth/solver/petsc_session.hpp"

namespace {

using namespace berth;
using generate::HorizonObjective;
using generate::HorizonOptions;
using generate::HorizonPreset;

struct Row {
  const char* name;
  HorizonPreset preset;
  HorizonOptions options;
  int intervals = 32;
};

/// Jobs that arrive ask for this many times what the cluster has until the last arrival: less
/// leaves no queue, because long jobs run on after it.
constexpr double kLoad = 1.2;
/// Gangs of Kalos wait for each other even below the full load.
constexpr double kLowLoad = 0.87;

std::vector<Row> rows() {
  using P = HorizonPreset;
  using O = HorizonObjective;
  return {
      {"philly-5k", P::philly, {.jobs = 5'000}},
      {"philly-10k", P::philly, {}},
      {"philly-10k-w1", P::philly, {.equal_weights = true}},
      {"philly-10k-one-type", P::philly, {.one_type = true}},
      {"philly-30k", P::philly, {.jobs = 30'000}},
      {"philly-10k-r", P::philly, {.load = kLoad}, 64},
      {"big-10k", P::big, {}},
      {"big-10k-one-type", P::big, {.one_type = true}},
      {"big-10k-r", P::big, {.load = kLoad}, 64},
      {"huge-10k", P::huge, {}},
      {"big-50k", P::big, {.jobs = 50'000}},
      {"big-50k-r", P::big, {.jobs = 50'000, .load = kLoad}, 64},
      {"huge-50k", P::huge, {.jobs = 50'000}},
      {"kalos-640", P::kalos, {.jobs = 636}},
      {"kalos-640-r", P::kalos, {.jobs = 636, .load = kLoad}, 64},
      {"kalos-640-r87", P::kalos, {.jobs = 636, .load = kLowLoad}, 64},
      {"philly-10k-sigmoid", P::philly, {.objective = O::sigmoid}},
      {"big-10k-sigmoid", P::big, {.objective = O::sigmoid}},
      {"kalos-640-sigmoid", P::kalos, {.jobs = 636, .objective = O::sigmoid}},
      {"philly-10k-value1h", P::philly, {.objective = O::value_in_hours, .horizon = 3600}},
      {"queue-10k-value24h",
       P::queue,
       {.objective = O::value_in_hours, .horizon = 24 * 3600, .outages = false}},
      {"big-10k-value8h", P::big, {.objective = O::value_in_hours, .horizon = 8 * 3600}},
      {"philly-10k-elastic", P::philly, {.elastic = true}},
      {"big-10k-elastic", P::big, {.elastic = true}},
      {"kalos-640-elastic", P::kalos, {.jobs = 636, .elastic = true}},
  };
}

/// Seconds by the clock, and processor time of all threads, which is steadier on a busy machine.
std::string seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t start_of_work = std::clock();
  work();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return fmt::format("{:.3f} s ({:.3f} CPU s)", seconds.count(),
                     static_cast<double>(std::clock() - start_of_work) / CLOCKS_PER_SEC);
}

/// Prints "name gap% (seconds)" of a plan, or its faults.
class Judge {
 public:
  Judge(const horizon::Problem& problem, const horizon::PriceCertificate& certificate)
      : problem_(problem), certificate_(certificate) {}

  void print(const char* name, const std::function<horizon::Plan()>& make, bool machines) const {
    horizon::Plan plan;
    const std::string seconds = seconds_of([&] { plan = make(); });
    certify::HorizonProof proof;
    const std::string check = seconds_of([&] {
      const auto faults = machines ? certify::check_on_machines(problem_, plan)
                                   : certify::check_on_pools(problem_, plan);
      if (!faults.empty()) {
        fmt::print("  {:14} {} FAULTS, first of kind {} job {} time {}\n", name, faults.size(),
                   static_cast<int>(faults.front().kind), faults.front().job.value(),
                   faults.front().time);
      }
      proof = certify::prove_horizon(problem_, plan, certificate_);
    });
    fmt::print("  {:14} gap {:8.4f} %  {}  check {}  missing {}\n", name, 100.0 * proof.gap,
               seconds, check, proof.required_missing.size());
    std::fflush(stdout);
  }

 private:
  const horizon::Problem& problem_;
  const horizon::PriceCertificate& certificate_;
};

template <class Timeline>
void print_baselines(const horizon::Problem& problem, const Judge& judge, bool machines) {
  const auto arrival = policy::arrival_order(problem);
  const auto wspt = policy::weighted_shortest_first(problem, horizon::Seconds{1} << 30);
  const auto print = [&](const char* name, auto policy, const std::vector<JobId>& order) {
    judge.print(
        name,
        [&] {
          Timeline timeline(problem);
          horizon::Plan plan = policy(problem, timeline, order);
          if (machines) horizon::assign_devices(problem, plan);
          return plan;
        },
        machines);
  };
  print("fifo", policy::fifo, arrival);
  print("easy", policy::easy_backfill, arrival);
  print("conservative", policy::conservative_backfill, arrival);
  print("sjf", policy::first_fit, policy::shortest_first(problem));
  print("wspt first", policy::first_fit, wspt);
  print("wspt list", policy::cheapest_list, wspt);
}

void print_makespan(const horizon::Problem& problem) {
  horizon::PoolTimeline timeline(problem);
  horizon::Seconds makespan = 0;
  solver::MakespanBound bound;
  const std::string seconds = seconds_of([&] {
    makespan = solver::makespan_of(problem, solver::longest_first(problem, timeline));
    bound = solver::bound_makespan(problem, makespan);
  });
  const bool proved = certify::refutes_makespan(problem, bound.bound - 1, bound.refutation);
  fmt::print("  makespan       {} s, bound {} s, gap {:.4f} %  {}{}\n", makespan, bound.bound,
             100.0 * static_cast<double>(makespan - bound.bound) / static_cast<double>(makespan),
             seconds, proved ? "" : "  NOT PROVED");
}

void measure(const Row& row, const std::string& traces, const std::string& baselines) {
  std::vector<generate::TraceRow> jobs;
  if (row.preset == HorizonPreset::philly) jobs = bench::philly_rows(traces, 20'000);
  if (row.preset == HorizonPreset::kalos) jobs = bench::kalos_rows(traces);
  const horizon::Problem problem = generate::generate_horizon(row.preset, row.options, jobs);
  solver::HorizonBound bound;
  const std::string seconds =
      seconds_of([&] { bound = solver::bound_horizon(problem, {.intervals = row.intervals}); });
  fmt::print("{}: {} jobs, bound {:.8g} in {}, {} evaluations, {} nodes\n", row.name,
             problem.jobs.size(), bound.bound, seconds, bound.evaluations, bound.grid.size());
  std::fflush(stdout);
  const auto certificate = solver::certificate_of(bound);
  const Judge judge(problem, certificate);
  horizon::Plan pools;
  judge.print(
      "pools", [&] { return pools = solver::plan_on_pools(problem, bound); }, false);
  judge.print(
      "machines", [&] { return solver::plan_on_machines(problem, bound, pools); }, true);
  if (row.options.objective == HorizonObjective::flow) print_makespan(problem);
  if (baselines == "pools") print_baselines<horizon::PoolTimeline>(problem, judge, false);
  if (baselines == "machines") print_baselines<horizon::MachineTimeline>(problem, judge, true);
}

/// Sheets whose optimum is known: the share of the area that is placed, and the certified gap.
void measure_zero_waste(std::size_t jobs, double windows) {
  const generate::ZeroWaste sheet =
      generate::generate_zero_waste({.gpus = 4'096, .jobs = jobs, .windows = windows});
  solver::HorizonBound bound;
  horizon::Plan plan;
  const std::string bound_seconds =
      seconds_of([&] { bound = solver::bound_horizon(sheet.problem); });
  const std::string seconds =
      seconds_of([&] { plan = solver::plan_on_pools(sheet.problem, bound); });
  const auto proof = certify::prove_horizon(sheet.problem, plan, solver::certificate_of(bound));
  fmt::print(
      "zero-waste {} jobs, windows {}: placed {:.3f} %, gap {:.4f} %, {} + {}, {} "
      "faults\n",
      sheet.problem.jobs.size(), windows,
      100.0 * proof.objective / cost_of(sheet.problem, sheet.optimum), 100.0 * proof.gap,
      bound_seconds, seconds, certify::check_on_pools(sheet.problem, plan).size());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const char* folder = std::getenv("BERTH_TRACES");
  const char* baselines = std::getenv("BASELINES");  // none (default), pools or machines
  const solver::PetscSession petsc;
  const auto named = [&](const std::string& name) {
    return argc < 2 || std::find(argv + 1, argv + argc, name) != argv + argc;
  };
  for (const Row& row : rows()) {
    if (named(row.name))
      measure(row, folder ? folder : "../shared/traces", baselines ? baselines : "");
  }
  if (named("zero-waste-10k")) measure_zero_waste(10'000, 0.0);
  if (named("zero-waste-10k-windows")) measure_zero_waste(10'000, 0.05);
  if (named("zero-waste-100k")) measure_zero_waste(100'000, 0.0);
  return 0;
}
