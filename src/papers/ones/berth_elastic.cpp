// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/berth_elastic.hpp"

#include <algorithm>
#include <utility>

#include "berth/papers/flow_allocation.hpp"
#include "berth/papers/ones_schedule.hpp"

namespace berth::papers {
namespace {

using policy::Micros;
using policy::Phase;
using policy::State;

double seconds_of(Micros time) { return static_cast<double>(time) / policy::kSecond; }

class BerthElastic final : public policy::Policy {
 public:
  BerthElastic(const PaperWorld& world, std::vector<ElasticJob> jobs,
               std::vector<TrainingJob> training, const BerthElasticOptions& options)
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
    return best_batch(profiles_->goodputs[job.index()], monitor_.job(job),
                      seconds_of(state.done(job)), gpus, machines(gpus));
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
    flow.rates.push_back(0.0);
    const double reference = profiles_->goodputs[job.index()].reference;
    const std::int32_t largest =
        std::min(jobs_[job.index()].largest(), static_cast<std::int32_t>(line_.size()));
    for (std::int32_t gpus = 1; gpus <= largest; ++gpus) {
      flow.rates.push_back(learns() ? monitor_.throughput(job, gpus)
                                    : batch_of(state, job, gpus).goodput / reference);
    }
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
    const auto chosen = choose_gpus(flows, free);
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
    if (!learns()) return batch_of(state, job, gpus).samples;
    const TrainingJob& training = monitor_.job(job);
    const auto batch = speed::ones_batch(gpus, training.base_batch, 1.0, training.rate_ratio);
    return std::max<std::int64_t>(1, batch.per_gpu) * gpus;
  }

  BerthElasticOptions options_;
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
  const auto next = std::ranges::upper_bound(profile.noise, work, {}, &speed::NoisePoint::work);
  const double noise = std::prev(next)->noise_scale;
  const speed::OnesBatch most =
      speed::ones_batch(gpus, training.base_batch, 1.0, training.rate_ratio);
  const std::int64_t largest = std::max<std::int64_t>(1, most.per_gpu) * gpus;
  BestBatch best;
  const auto offer = [&](std::int64_t samples) {
    const auto batch = static_cast<double>(samples);
    const double goodput = batch / profile.time.seconds(batch, gpus, machines) *
                           speed::statistical_efficiency(noise, profile.smallest_batch, batch);
    if (goodput > best.goodput) best = {samples, goodput};
  };
  for (std::int64_t samples = training.base_batch; samples < largest;
       samples += training.base_batch)
    offer(samples);
  offer(largest);
  return best;
}

std::unique_ptr<policy::Policy> make_berth_elastic(const PaperWorld& world,
                                                   std::vector<TrainingJob> training,
                                                   const BerthElasticOptions& options) {
  return std::make_unique<BerthElastic>(world, elastic_jobs("berth-elastic", world),
                                        std::move(training), options);
}

}  // namespace berth::papers
