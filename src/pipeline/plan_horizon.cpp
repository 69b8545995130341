// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/plan_horizon.hpp"

#include "horizon_checkpoint.hpp"
#include "horizon_factors.hpp"
#include "horizon_moments.hpp"
#include "horizon_notes.hpp"
#include "horizon_placements.hpp"
#include "horizon_problem.hpp"
#include "horizon_promises.hpp"
#include "solve_horizon.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/certify/horizon_plan.hpp"
#include "berth/io/file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/model/digest.hpp"
#include "berth/pipeline/checkpoint.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/horizon_shards.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::pipeline {
namespace {

using model::Horizon;
using model::InstanceView;
using model::PriceCurves;

bool all_zero(const std::vector<std::int64_t>& prices) {
  return std::ranges::all_of(prices, [](std::int64_t price) { return price == 0; });
}

model::PriceCurves curves_of(const InstanceView& instance, const HorizonProblem& translated,
                             const horizon::PriceCertificate& certificate) {
  PriceCurves prices{.nodes = certificate.nodes, .curves = {}};
  const auto intervals = static_cast<std::ptrdiff_t>(certificate.intervals());
  const auto add = [&](std::size_t curve, auto priced) {
    const auto first = static_cast<std::ptrdiff_t>(curve) * intervals;
    priced.starts.assign(certificate.starts.begin() + first,
                         certificate.starts.begin() + first + intervals);
    priced.slopes.assign(certificate.slopes.begin() + first,
                         certificate.slopes.begin() + first + intervals);
    return priced;
  };
  std::size_t curve = 0;
  for (const GpuTypeId type : translated.types) {
    const std::string& name = instance.cluster.gpu_types[type.index()];
    prices.curves.push_back(
        add(curve++, PriceCurves::Curve{.gpu_type = name, .starts = {}, .slopes = {}}));
  }
  std::size_t budget = 0;
  for (const model::Queue& queue : instance.cluster.queues) {
    if (queue.gpu_quota >= 0 && !certificate.starts.empty()) {
      auto priced =
          add(curve++, PriceCurves::QuotaCurve{.queue = queue.name, .starts = {}, .slopes = {}});
      if (!all_zero(priced.starts) || !all_zero(priced.slopes)) {
        prices.quotas.push_back(std::move(priced));
      }
    }
    if (queue.gpu_hours < 0 || certificate.budgets.empty()) continue;
    const std::int64_t price = certificate.budgets[budget++];
    if (price > 0) prices.budgets.push_back({.queue = queue.name, .price = price});
  }
  for (const horizon::MultipleOfGpus& of : certificate.multiples) {
    const std::string& name = instance.cluster.gpu_types[translated.types[of.curve].index()];
    prices.multiples.push_back(add(
        curve++,
        PriceCurves::MultipleCurve{.gpu_type = name, .gpus = of.gpus, .starts = {}, .slopes = {}}));
  }
  for (const horizon::SizeFactor& size : certificate.sizes) {
    prices.sizes.push_back(
        {.gpu_type = instance.cluster.gpu_types[translated.types[size.curve].index()],
         .gpus = size.gpus,
         .factor = size.factor});
  }
  const auto name = [&](JobId job) {
    return std::string(instance.workload.tables().job_names[translated.jobs[job.index()].index()]);
  };
  for (const horizon::CostShare& one : certificate.shares) {
    prices.shares.push_back({.job = name(one.job), .after = name(one.after), .share = one.share});
  }
  return prices;
}

/// Passes, where they begin, and what is written after them. Where the machine refuses (disk full),
/// an earlier checkpoint stays, one warning tells, and planning goes on.
HorizonEffort effort_of(const HorizonRequest& request, const CheckpointOrigin& origin,
                        report::ProgressTable& progress) {
  HorizonEffort effort{.passes = request.effort, .gap = request.gap};
  const CheckpointOptions& checkpoint = request.checkpoint;
  if (!checkpoint.resume.empty()) effort.from = read_horizon_checkpoint(checkpoint.resume, origin);
  if (checkpoint.file.empty()) return effort;
  const auto write = [=, &progress, warned = std::make_shared<bool>(false)](
                         const HorizonState& state, int count) {
    if (count % checkpoint.every != 0) return;
    try {
      write_horizon_checkpoint(checkpoint.file, origin, state);
    } catch (const SystemError& error) {
      if (std::exchange(*warned, true)) return;
      progress.warn(fmt::format("no checkpoint: {}; planning goes on", error.what()));
    }
  };
  effort.passed = [write](const HorizonState& state) { write(state, state.pass); };
  effort.after_round = [write](const HorizonState& state) { write(state, state.rounds.round); };
  return effort;
}

}  // namespace

model::HorizonPlan plan_horizon(const InstanceView& instance, const HorizonRequest& request,
                                report::ProgressTable& progress, const StopToken& stop) {
  solver::PetscSession::expect_active();
  for (const std::string& note : horizon_notes(instance, request.horizon)) progress.warn(note);
  const Horizon& horizon = request.horizon;
  const double start = progress.seconds();
  const CheckpointOrigin origin{.instance_digest = model::instance_digest(instance),
                                .options = horizon_options(request)};
  const HorizonEffort effort = effort_of(request, origin, progress);
  HorizonProblem translated = horizon_problem(instance, horizon);
  std::vector<PromisedStart> promises;
  const BoundedProblem bounded =
      bound_with_contents(instance, horizon, translated, request.ranks, stop);
  translated.problem = bounded.problem;
  HorizonTask task{.planned = bounded.problem,
                   .bounded = bounded.problem,
                   .kept = {},
                   .moments = {},
                   .bound = bounded.bound,
                   .ranks = request.ranks,
                   .shard_ranks = request.shard_ranks,
                   .shards = request.shards,
                   .rounds = request.rounds};
  if (task.shards == 0) task.shards = solver::shards_in_time(task.bounded);
  if (request.keep) {
    promises = promised_starts(instance, *request.keep);
    task.planned = with_promises(translated, horizon, promises, request.keep_price);
    task.kept = starts_to_keep(translated, promises);
  }
  if (!bounded.factors.empty() && !effort.from && task.shards <= 1) {  // shards do not take them
    task.moments = plan_moments(instance, horizon, translated, stop);
  }
  const HorizonSolution solution = solve_horizon(std::move(task), horizon, effort, progress, stop);
  const double solved = progress.seconds();

  model::HorizonPlan plan;
  plan.horizon = horizon;
  add_jobs(instance, translated, solution.plan, plan);
  plan.promises = promises_of(instance, plan, promises);
  plan.certificate = curves_of(instance, translated, solution.certificate);
  plan.certificate.factors = bounded.factors;
  certify::HorizonJudgement judged =
      certify::judge_horizon(instance, horizon, plan.placements, plan.ends, plan.certificate);
  plan.figures = judged.figures;
  plan.required_missing = std::move(judged.required_missing);
  plan.instance_digest = origin.instance_digest;
  plan.plan_digest = model::plan_digest(instance, plan.placements);
  plan.proof_digest = certify::horizon_proof_digest(horizon, plan.figures, plan.certificate);
  plan.reproducible = !stop.has_cut() && !solution.cut;
  plan.seconds = {{"solve", solved - start}, {"certify", progress.seconds() - solved}};
  return plan;
}

void write_horizon_plan(const std::string& path, const InstanceView& instance,
                        const model::HorizonPlan& plan) {
  const std::string text = io::horizon_plan_text(instance, plan);
  certify::HorizonCheck check;
  try {
    check = certify::check_horizon(instance, io::parse_horizon_plan(text, path));
  } catch (const InputError& error) {
    throw std::logic_error(fmt::format("the plan cannot be read back: {}", error.what()));
  }
  if (!check.checked.valid()) {
    const certify::Fault& first = check.checked.faults.front();
    throw std::logic_error(
        fmt::format("{}: not written, the plan is invalid: {}: {}; this is a bug", path,
                    certify::name(first.kind), first.text));
  }
  io::write_atomically(path, [&](io::AtomicFile& file) { file.write(text); });
}

}  // namespace berth::pipeline
