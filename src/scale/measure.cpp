// SPDX-License-Identifier: Apache-2.0
#include "berth/scale/measure.hpp"

#include "peak_memory.hpp"

#include <algorithm>
#include <ctime>
#include <numeric>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/pipeline/distribute.hpp"
#include "berth/report/progress.hpp"

namespace berth::scale {
namespace {

using comm::Communicator;

/// Checks that all ranks have the same stages and calls, so that their lists correspond by index.
template <class T>
std::vector<T> of_all_ranks(const Communicator& comm, const std::vector<T>& mine) {
  const auto size = static_cast<std::int64_t>(mine.size());
  BERTH_ENSURE(comm.min(size) == comm.max(size));
  return comm.gather_varying<T>(std::span<const T>(mine));
}

std::vector<StageShares> gather_stages(const Communicator& comm, const Communicator& run) {
  const std::vector<comm::Traffic> stages = run.stats();
  std::vector<RankShare> mine;
  for (const comm::Traffic& s : stages) {
    mine.push_back({std::max(0.0, s.elapsed - s.seconds), s.seconds, s.messages, s.bytes});
  }
  const std::vector<RankShare> all = of_all_ranks(comm, mine);
  std::vector<StageShares> result;
  for (std::size_t i = 0; i < stages.size() && comm.rank() == 0; ++i) {
    result.push_back({.stage = stages[i].stage, .ranks = {}});
    for (std::size_t at = i; at < all.size(); at += stages.size()) {
      result.back().ranks.push_back(all[at]);
    }
  }
  return result;
}

std::vector<CallCount> gather_calls(const Communicator& comm, const Communicator& run) {
  struct MessageCount {
    std::int64_t messages, bytes;
  };
  const std::vector<comm::CallTraffic> calls = run.stats_by_call();
  std::vector<MessageCount> mine;
  for (const comm::CallTraffic& c : calls) mine.push_back({c.messages, c.bytes});
  const std::vector<MessageCount> all = of_all_ranks(comm, mine);
  std::vector<CallCount> result;
  for (std::size_t i = 0; i < calls.size() && comm.rank() == 0; ++i) {
    result.push_back({calls[i].stage, calls[i].call, calls[i].messages, 0});
    for (std::size_t at = i; at < all.size(); at += calls.size()) {
      BERTH_ENSURE(all[at].messages == calls[i].messages);
      result.back().bytes += all[at].bytes;
    }
  }
  return result;
}

/// Seconds of all spans of this name by index, over all ranks; complete on rank 0.
std::vector<double> gather_spans(const Communicator& comm, const Communicator& run,
                                 std::string_view name) {
  struct SpanSeconds {
    std::int64_t index;
    double seconds;
  };
  std::vector<SpanSeconds> mine;
  for (const comm::Event& e : run.events()) {
    if (e.kind == comm::EventKind::span && e.name == name) mine.push_back({e.index, e.seconds});
  }
  std::vector<double> result;
  for (const SpanSeconds& s :
       comm.gather_varying<SpanSeconds>(std::span<const SpanSeconds>(mine))) {
    const auto index = static_cast<std::size_t>(s.index);
    if (index >= result.size()) result.resize(index + 1, 0.0);
    result[index] += s.seconds;
  }
  return result;
}

std::int64_t stat(const model::Plan& plan, const char* name) {
  const auto found = plan.stats.find(name);
  return found == plan.stats.end() ? 0 : static_cast<std::int64_t>(found->second);
}

/// Measures one repeat as a point.
ScalingPoint measure_once(const Communicator& comm, model::Instance& instance,
                          const pipeline::PlanOptions& options) {
  const Communicator run = comm.fresh();
  run.begin_stage("load");
  run.record_events();
  pipeline::distribute(run, instance);
  coordinator::JobRecords jobs(run, instance.workload);
  jobs.scatter_homes();  // the state after files are read
  forget_peak_memory();  // the peak of generating the jobs on rank 0
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  const std::clock_t begin = std::clock();
  const model::Plan plan = pipeline::plan_distributed(run, instance, options, silent, jobs);
  const std::clock_t end = std::clock();

  ScalingPoint point{.ranks = comm.size(),
                     .threads = parallel::thread_limit(),
                     .gpus = instance.cluster.gpus(),
                     .jobs = static_cast<std::int64_t>(instance.workload.size()),
                     .shards = stat(plan, "shards"),
                     .plan_digest = plan.plan_digest,
                     .objective = plan.figures.objective,
                     .upper_bound = plan.figures.upper_bound,
                     .gap = plan.figures.gap,
                     .evaluations = stat(plan, "evaluations"),
                     .rounds = stat(plan, "rounds")};
  if (const auto solve = plan.seconds.find("solve"); solve != plan.seconds.end()) {
    point.median_seconds = solve->second;
  }
  point.cpu_seconds = comm.all_gather(static_cast<double>(end - begin) / CLOCKS_PER_SEC);
  point.stages = gather_stages(comm, run);
  point.calls = gather_calls(comm, run);
  point.shard_seconds = gather_spans(comm, run, "shard");
  point.evaluate_seconds = gather_spans(comm, run, "evaluate");
  point.peak_memory_mib = comm.all_gather(peak_memory_mib());
  jobs.gather_to_root();  // for the next repeat
  return point;
}

}  // namespace

ScalingPoint measure(const Communicator& comm, model::Instance& instance,
                     const MeasureOptions& options) {
  BERTH_EXPECT(options.repeats > 0);
  model::Instance received;
  model::Instance& own = comm.rank() == 0 ? instance : received;  // a copy would count as memory
  std::vector<ScalingPoint> runs;
  for (int i = 0; i < options.repeats; ++i) {
    runs.push_back(measure_once(comm, own, options.plan));
  }
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return runs[i].median_seconds; });
  std::vector<double> seconds;
  bool same = true;
  for (const ScalingPoint& run : runs) {
    seconds.push_back(run.median_seconds);
    same = same && run.plan_digest == runs[0].plan_digest;
  }
  ScalingPoint median = std::move(runs[order[order.size() / 2]]);
  median.solve_seconds = std::move(seconds);
  median.same_digest = same;
  return median;
}

}  // namespace berth::scale
