// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/option_range.hpp"
#include "berth/papers/ones.hpp"

namespace berth::papers {
namespace {

using policy::Micros;
using policy::Phase;
using policy::State;

std::int32_t index_of(JobId job) { return static_cast<std::int32_t>(job.index()); }
JobId job_of(std::int32_t index) { return JobId(static_cast<std::size_t>(index)); }

void check(const OnesOptions& options) {
  expect_option("ones: generation", static_cast<double>(options.generation), above(0.0));
  expect_option("ones: sigma", options.sigma, at_least(0.0));
  expect_option("ones: growth", options.growth, at_least(1.0));
  expect_option("ones: epochs_at_limit", options.epochs_at_limit, at_least(0.0));
  expect_option("ones: epochs_in_place", options.epochs_in_place, at_least(0.0));
  check(options.evolution);
}

class OnesPolicy final : public policy::Policy {
 public:
  OnesPolicy(const PaperWorld& world, std::vector<ElasticJob> jobs,
             std::vector<TrainingJob> training, const OnesOptions& options)
      : options_(options),
        seed_(world.seed),
        jobs_(std::move(jobs)),
        line_(gpu_line(world.instance.cluster)),
        first_gpu_(world.instance.cluster.machines()),
        limits_(jobs_, static_cast<std::int32_t>(line_.size()), options.sigma),
        monitor_(world, std::move(training), options.monitor),
        epochs_(jobs_.size()),
        views_(jobs_.size()) {
    for (std::size_t i = line_.size(); i > 0; --i) first_gpu_[line_[i - 1].machine.index()] = i - 1;
  }

  void decide(State& state) override {
    for (const JobId job : state.ended()) retire(state, job);
    for (const JobId job : state.arrived()) {
      if (std::ranges::find(active_, index_of(job)) == active_.end())
        active_.push_back(index_of(job));
    }
    if (active_.empty()) return;
    if (state.now() >= next_) {
      next_ = state.now() + options_.generation;
      generate(state);
    }
    state.wake_at(next_);
  }

 private:
  struct Epochs {
    double placed = 0.0;  ///< done when the job was last started or moved
    double scaled = 0.0;  ///< the same for its last change of GPUs
    std::int32_t gpus = 0;
  };

  void retire(State& state, JobId job) {
    monitor_.finish(state, job);
    std::erase(active_, index_of(job));
    views_[job.index()] = {};
  }

  void generate(State& state) {
    for (const JobId job : state.running()) monitor_.observe(state, job);
    update_limits(state);
    for (const std::int32_t job : active_)
      views_[job_of(job).index()] = view_of(state, job_of(job));
    const OnesSchedule current = line_of(state);
    ++generation_;
    evolve(population_, {views_, active_}, current, options_.evolution,
           {.seed = seed_, .generation = generation_});
    adopt(state, current, population_.front());
  }

  [[nodiscard]] double epochs_since(JobId job, double mark) const {
    return monitor_.epochs(job) - mark;
  }

  void update_limits(const State& state) {
    std::vector<double> runs;  // of jobs that have started
    JobId largest;
    for (const std::int32_t index : active_) {
      const JobId job = job_of(index);
      const Epochs& epochs = epochs_[job.index()];
      if (state.progress(job).runs > 0) runs.push_back(static_cast<double>(state.held(job)));
      if (state.progress(job).phase != Phase::running) continue;
      if (epochs_since(job, epochs.scaled) < options_.epochs_at_limit) continue;
      limits_.grow(job, epochs.gpus);
      if (!largest.valid() || epochs.gpus > epochs_[largest.index()].gpus) largest = job;
    }
    if (!largest.valid()) return;
    const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
    std::ranges::nth_element(runs, middle);
    if (*middle > 0.0) {
      limits_.shrink(largest, epochs_[largest.index()].gpus,
                     static_cast<double>(state.held(largest)) / *middle);
    }
  }

  [[nodiscard]] OnesView view_of(const State& state, JobId job) const {
    OnesView view{.limit = limits_.limit(job)};
    view.offered = std::min(view.limit, options_.growth * jobs_[job.index()].requested);
    view.predicted = monitor_.predicted(job);
    if (!view.predicted) return view;
    view.remaining = monitor_.remaining(state, job, generation_);
    for (std::int32_t gpus = 0; gpus <= view.limit; ++gpus)
      view.throughput.push_back(monitor_.throughput(job, gpus));
    return view;
  }

  /// Jobs on the GPUs now.
  [[nodiscard]] OnesSchedule line_of(const State& state) const {
    OnesSchedule line(line_.size(), kFreeGpu);
    for (const JobId job : state.running()) {
      for (const model::TaskPlacement& task : state.progress(job).tasks) {
        for (std::size_t i = first_gpu_[task.machine.index()];
             i < line_.size() && line_[i].machine == task.machine; ++i) {
          if ((task.devices >> line_[i].device & 1) != 0) line[i] = index_of(job);
        }
      }
    }
    return line;
  }

  /// Jobs that run and have other GPUs in the next schedule.
  [[nodiscard]] static std::vector<JobId> moved(const OnesSchedule& current,
                                                const OnesSchedule& next) {
    std::vector<JobId> jobs;
    for (std::size_t i = 0; i < current.size(); ++i) {
      if (current[i] == next[i]) continue;
      if (current[i] != kFreeGpu) jobs.push_back(job_of(current[i]));
    }
    // a job that only gains GPUs moves too
    for (std::size_t i = 0; i < next.size(); ++i) {
      const bool runs = next[i] != kFreeGpu && current[i] != next[i] &&
                        std::ranges::find(current, next[i]) != current.end();
      if (runs) jobs.push_back(job_of(next[i]));
    }
    std::ranges::sort(jobs);
    const auto rest = std::ranges::unique(jobs);
    jobs.erase(rest.begin(), rest.end());
    return jobs;
  }

  void adopt(State& state, const OnesSchedule& current, const OnesSchedule& next) {
    const std::vector<JobId> jobs = moved(current, next);
    const bool may_switch = std::ranges::all_of(jobs, [&](JobId job) {
      return state.job(job).preemptible && state.progress(job).since < state.now() &&
             epochs_since(job, epochs_[job.index()].placed) >= options_.epochs_in_place;
    });
    if (may_switch) {
      const auto gpus = gpus_by_job(next, jobs_.size());
      for (const std::int32_t job : active_) {
        if (state.progress(job_of(job)).phase == Phase::waiting &&
            state.progress(job_of(job)).runs > 0 && gpus[static_cast<std::size_t>(job)] == 0)
          limits_.halve(job_of(job));
      }
      for (const JobId job : jobs) state.stop(job);
    }
    for (const std::int32_t job : active_) {
      if (state.progress(job_of(job)).phase == Phase::waiting) place(state, job, next);
    }
  }

  /// Starts the job on its GPUs of the schedule, if it has some and they are free.
  void place(State& state, std::int32_t index, const OnesSchedule& schedule) {
    std::vector<Gpu> gpus;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      if (schedule[i] == index) gpus.push_back(line_[i]);
    }
    if (gpus.empty()) return;
    const JobId job = job_of(index);
    const auto count = static_cast<std::int32_t>(gpus.size());
    const TrainingJob& training = monitor_.job(job);
    const speed::OnesBatch batch =
        speed::ones_batch(count, training.base_batch, 1.0, training.rate_ratio);
    const std::int64_t samples = std::max<std::int64_t>(1, batch.per_gpu) * count;
    if (!run_on(state, job, jobs_[job.index()], gpus, samples)) return;
    Epochs& epochs = epochs_[job.index()];
    epochs.placed = monitor_.epochs(job);
    if (std::exchange(epochs.gpus, count) != count) epochs.scaled = epochs.placed;
  }

  OnesOptions options_;
  std::uint64_t seed_;
  std::vector<ElasticJob> jobs_;
  std::vector<Gpu> line_;
  std::vector<std::size_t> first_gpu_;  ///< by MachineId: index in the line
  OnesLimits limits_;
  TrainingMonitor monitor_;
  std::vector<Epochs> epochs_;  ///< by JobId
  std::vector<OnesView> views_;
  std::vector<std::int32_t> active_;  ///< waiting or running, by arrival
  std::vector<OnesSchedule> population_;
  std::uint64_t generation_ = 0;
  Micros next_ = 0;
};

}  // namespace

std::unique_ptr<policy::Policy> make_ones(const PaperWorld& world,
                                          std::vector<TrainingJob> training,
                                          const OnesOptions& options) {
  check(options);
  return std::make_unique<OnesPolicy>(world, elastic_jobs("ones", world), std::move(training),
                                      options);
}

}  // namespace berth::papers
