// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/berth_elastic.hpp"

#include <algorithm>
#include <utility>

#include "berth/base/option_range.hpp"
#include "berth/papers/flow_allocation.hpp"
#include "berth/papers/ones_schedule.hpp"

namespace berth::papers {
namespace {

using policy::Micros;
using policy::Phase;
using policy::State;

double seconds_of(Micros time) { return static_cast<double>(time) / policy::kSecond; }

double noise_at(const speed::ElasticBatchJob& profile, double work) {
  const auto next = std::ranges::upper_bound(profile.noise, work, {}, &speed::NoisePoint::work);
  return std::prev(next)->noise_scale;
}

double goodput(const speed::ElasticBatchJob& profile, double noise, double batch, std::int32_t gpus,
               std::int32_t machines) {
  return batch / profile.time.seconds(batch, gpus, machines) *
         speed::statistical_efficiency(noise, profile.smallest_batch, batch);
}

BestBatch fixed_batch(const speed::ElasticBatchJob& profile, double work, std::int32_t gpus,
                      std::int32_t machines) {
  return {.samples = 0,
          .goodput = goodput(profile, noise_at(profile, work), profile.batch, gpus, machines)};
}

/// Samples of all workers as ONES has them.
std::int64_t largest_batch(const TrainingJob& training, std::int32_t gpus) {
  const auto batch = speed::ones_batch(gpus, training.base_batch, 1.0, training.rate_ratio);
  return std::max<std::int64_t>(1, batch.per_gpu) * gpus;
}

class ElasticPolicy final : public policy::Policy {
 public:
  ElasticPolicy(const PaperWorld& world, std::vector<ElasticJob> jobs,
                std::vector<TrainingJob> training, const ElasticOptions& options)
      : options_(options),
        profiles_(&world.profiles),
        jobs_(std::move(jobs)),
        line_(gpu_line(world.instance.cluster)),
        monitor_(world, std::move(training), options.monitor) {
    for (const Gpu& gpu : line_) per_machine_ = std::max(per_machine_, gpu.device + 1);
  }

  void decide(State& state) override {
    if (learns()) watch(state);
    for (const JobId job : state.ended()) std::erase(active_, job);
    for (const JobId job : state.arrived()) {
      if (std::ranges::find(active_, job) == active_.end()) active_.push_back(job);
    }
    if (active_.empty()) return;
    if (options_.interval > 0) {
      const Micros since = state.now() % options_.interval;
      if (since == 0) allocate(state);
      state.wake_at(state.now() - since + options_.interval);
      return;
    }
    allocate(state);
    if (options_.refresh > 0) state.wake_at(state.now() + options_.refresh);
  }

 private:
  [[nodiscard]] bool learns() const { return options_.knowledge == ElasticKnowledge::training; }

  void watch(State& state) {
    for (const JobId job : state.running()) monitor_.observe(state, job);
    for (const JobId job : state.ended()) monitor_.finish(state, job);
  }

  [[nodiscard]] std::int32_t machines(std::int32_t gpus) const {
    return (gpus + per_machine_ - 1) / per_machine_;
  }

  [[nodiscard]] BestBatch batch_of(const State& state, JobId job, std::int32_t gpus) const {
    const speed::ElasticBatchJob& profile = profiles_->goodputs[job.index()];
    const double work = seconds_of(state.done(job));
    if (options_.fixed_batch) return fixed_batch(profile, work, gpus, machines(gpus));
    return best_batch(profile, monitor_.job(job), work, gpus, machines(gpus));
  }

  /// Not measured yet: it runs on one GPU until it is.
  [[nodiscard]] bool unknown(JobId job) const {
    return learns() && monitor_.throughput(job, 1) <= 0.0;
  }

  [[nodiscard]] FlowJob flow_job(const State& state, JobId job) const {
    const policy::Progress& progress = state.progress(job);
    FlowJob flow;
    const bool runs = progress.phase == Phase::running;
    flow.held = runs ? static_cast<std::int32_t>(progress.tasks.size()) : 0;
    if (runs) flow.pause = seconds_of(state.job(job).resize_cost);
    if (!runs && progress.runs > 0) flow.pause = seconds_of(state.job(job).restart_cost);
    flow.remaining =
        learns() ? monitor_.remaining(state, job, 0) : seconds_of(state.remaining(job));
    const std::int32_t largest =
        std::min(jobs_[job.index()].largest(), static_cast<std::int32_t>(line_.size()));
    if (learns()) {
      flow.rates =
          modelled_throughput(monitor_.measured(job), monitor_.job(job), largest, per_machine_);
      flow.rates.resize(std::max(flow.rates.size(), static_cast<std::size_t>(flow.held) + 1),
                        flow.rates.back());
      return flow;
    }
    const double reference = profiles_->goodputs[job.index()].reference;
    flow.rates.push_back(0.0);
    for (std::int32_t gpus = 1; gpus <= largest; ++gpus)
      flow.rates.push_back(batch_of(state, job, gpus).goodput / reference);
    return flow;
  }

  /// GPUs of all active jobs, in their order.
  [[nodiscard]] std::vector<std::int32_t> choose(const State& state) const {
    std::vector<std::int32_t> counts(active_.size());
    auto free = static_cast<std::int32_t>(line_.size());
    std::vector<FlowJob> flows;
    std::vector<std::size_t> known;
    for (std::size_t a = 0; a < active_.size(); ++a) {
      if (unknown(active_[a]) && free > 0) {
        counts[a] = 1;
        --free;
      } else if (!unknown(active_[a])) {
        flows.push_back(flow_job(state, active_[a]));
        known.push_back(a);
      }
    }
    std::int32_t held = 0;
    for (const FlowJob& flow : flows) held += flow.held;
    for (std::size_t f = flows.size(); held > free; --f) {  // room for jobs to be measured
      const std::int32_t taken = std::min(flows[f - 1].held, held - free);
      flows[f - 1].held -= taken;
      held -= taken;
    }
    const auto chosen = options_.rule == ElasticRule::gain ? allocate_by_gain(flows, free)
                                                           : choose_gpus(flows, free);
    for (std::size_t f = 0; f < known.size(); ++f) counts[known[f]] = chosen[f];
    return counts;
  }

  void allocate(State& state) {
    std::vector<std::int32_t> owner(line_.size(), kFreeGpu);
    for (std::size_t a = 0; a < active_.size(); ++a) {
      for (const model::TaskPlacement& task : state.progress(active_[a]).tasks) {
        if (state.progress(active_[a]).phase != Phase::running) continue;
        for (std::size_t i = 0; i < line_.size(); ++i) {
          if (line_[i].machine == task.machine && (task.devices >> line_[i].device & 1) != 0)
            owner[i] = static_cast<std::int32_t>(a);
        }
      }
    }
    const auto next = place_workers(line_, owner, choose(state));
    std::vector<std::vector<Gpu>> before(active_.size()), after(active_.size());
    for (std::size_t i = 0; i < line_.size(); ++i) {
      if (owner[i] != kFreeGpu) before[static_cast<std::size_t>(owner[i])].push_back(line_[i]);
      if (next[i] != kFreeGpu) after[static_cast<std::size_t>(next[i])].push_back(line_[i]);
    }
    apply(state, before, after);
  }

  void apply(State& state, const std::vector<std::vector<Gpu>>& before,
             const std::vector<std::vector<Gpu>>& after) {
    const auto fixed = [&](JobId job) {
      return !state.job(job).preemptible || state.progress(job).since == state.now();
    };
    for (std::size_t a = 0; a < active_.size(); ++a) {
      if (!before[a].empty() && before[a] != after[a] && !fixed(active_[a])) state.stop(active_[a]);
    }
    for (std::size_t a = 0; a < active_.size(); ++a) {
      const JobId job = active_[a];
      if (after[a].empty() || before[a] == after[a]) continue;
      if (state.progress(job).phase != Phase::waiting) continue;
      const std::int64_t batch = samples_of(state, job, static_cast<std::int32_t>(after[a].size()));
      (void)run_on(state, job, jobs_[job.index()], after[a], batch);  // on closed machines it waits
    }
  }

  [[nodiscard]] std::int64_t samples_of(const State& state, JobId job, std::int32_t gpus) const {
    if (options_.fixed_batch) return 0;
    if (!learns()) return batch_of(state, job, gpus).samples;
    return largest_batch(monitor_.job(job), gpus);
  }

  ElasticOptions options_;
  const speed::Profiles* profiles_;
  std::vector<ElasticJob> jobs_;
  std::vector<Gpu> line_;
  std::int32_t per_machine_ = 1;
  TrainingMonitor monitor_;
  std::vector<JobId> active_;  ///< waiting or running, by arrival
};

}  // namespace

BestBatch best_batch(const speed::ElasticBatchJob& profile, const TrainingJob& training,
                     double work, std::int32_t gpus, std::int32_t machines) {
  const double noise = noise_at(profile, work);
  const std::int64_t largest = largest_batch(training, gpus);
  BestBatch best;
  const auto offer = [&](std::int64_t samples) {
    const auto batch = static_cast<double>(samples);
    const double useful = goodput(profile, noise, batch, gpus, machines);
    if (useful > best.goodput) best = {samples, useful};
  };
  for (std::int64_t samples = training.base_batch; samples < largest;
       samples += training.base_batch)
    offer(samples);
  offer(largest);
  return best;
}

std::unique_ptr<policy::Policy> make_berth_elastic(const PaperWorld& world,
                                                   std::vector<TrainingJob> training,
                                                   const ElasticOptions& options) {
  return std::make_unique<ElasticPolicy>(world, elastic_jobs("berth-elastic", world),
                                         std::move(training), options);
}

std::unique_ptr<policy::Policy> make_optimus_elastic(const PaperWorld& world,
                                                     policy::Micros interval) {
  expect_option("optimus-elastic: interval", static_cast<double>(interval), above(0.0));
  return std::make_unique<ElasticPolicy>(
      world, elastic_jobs("optimus-elastic", world),
      std::vector<TrainingJob>(world.instance.workload.size()),
      ElasticOptions{.rule = ElasticRule::gain, .fixed_batch = true, .interval = interval});
}

}  // namespace berth::papers
