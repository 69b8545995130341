// SPDX-License-Identifier: Apache-2.0
#include "gang_jobs.hpp"

#include "draws.hpp"
#include "hetero_tables.hpp"
#include "workload_builder.hpp"

#include <array>
#include <string>
#include <vector>

namespace berth::generate {
namespace {

using model::Factors;
using model::Job;
using model::Level;

// These tables are part of the definition of the presets (berth/generate/generate.hpp); chosen.
constexpr std::int64_t kRackGpus = 64;  ///< eight machines of eight GPUs, by definition

/// Value factors by width: within a machine, a rack, a pod, the cluster. Chosen.
constexpr std::array<Factors, 5> kUpToRack{{{1, 1, 0.95, 0.85},
                                            {1, 1, 0.9, 0.775},
                                            {1, 1, 0.85, 0.7},
                                            {1, 1, 0.8, 0.625},
                                            {1, 1, 0.75, 0.55}}};
/// Value factors by width of jobs larger than a rack, whose least width is a pod. Chosen.
constexpr std::array<Factors, 5> kAboveRack{
    {{1, 1, 1, 0.92}, {1, 1, 1, 0.845}, {1, 1, 1, 0.77}, {1, 1, 1, 0.695}, {1, 1, 1, 0.62}}};

/// The value in a preferred pod is `percent` higher: the weight is raised, and `away` lowers it
/// elsewhere.
struct Preference {
  std::int64_t percent;
  double away;  ///< 1 / (1 + percent / 100), three digits
};
/// Drawn evenly. Chosen.
constexpr std::array<Preference, 4> kPreferences{{{2, 0.98}, {4, 0.962}, {6, 0.943}, {8, 0.926}}};

class GangJobs {
 public:
  GangJobs(const GenerateOptions& options, const GangPreset& preset, const model::Cluster& cluster)
      : options_(options),
        preset_(preset),
        cluster_(cluster),
        sizes_(draw_sizes(options, cut_at(preset.mix, max_job_gpus(options.gpus, 4)))),
        out_(sizes_.size(), cluster.gpu_types.size(), {"worker"}) {}

  model::Workload build() {
    for (std::size_t p = 0; p < preset_.profiles; ++p) {
      std::vector<double> row;
      for (const std::string& name : cluster_.gpu_types)
        row.push_back(speed_of(kProfiles[p], name));
      out_.add_speed_row(row);
    }
    for (std::size_t j = 0; j < sizes_.size(); ++j) add_job(j, sizes_[j] / 1000);
    return out_.take();
  }

 private:
  void add_job(std::size_t j, std::int64_t gpus) {
    Dice dice(options_.seed, j);
    Job job = out_.start_job(dice);
    job.speed = 1 + static_cast<std::uint32_t>(dice.below(preset_.profiles));
    std::int64_t weight = log_normal_milli(dice);
    add_workers(gpus, dice);
    if (gpus > kGpusOfOneTask) spread(job, gpus, dice);
    if (dice.chance(preset_.home)) weight = weight * (100 + settle(job, dice)) / 100;
    job.weight = static_cast<double>(weight) / 1000.0;
    out_.finish_job(job);
  }

  /// One task up to a machine's GPUs, otherwise workers of 8, a few of 4.
  void add_workers(std::int64_t gpus, Dice& dice) {
    const bool small = dice.chance(preset_.small_workers);
    const std::int64_t each = gpus <= kGpusOfOneTask ? gpus : small ? 4 : 8;
    out_.add_group(
        {.needs = {8'000 * each, 64 * 1024 * each}, .gpus = static_cast<std::int32_t>(each)},
        static_cast<std::int32_t>(gpus / each), 0);
  }

  void spread(Job& job, std::int64_t gpus, Dice& dice) {
    job.width_factor = out_.factor_row(dice.pick(gpus <= kRackGpus ? kUpToRack : kAboveRack));
    const bool tied = dice.chance(preset_.one_pod);
    if (tied && 2 * gpus <= preset_.racks_per_pod * kRackGpus) job.domain = Level::pod;
  }

  /// Draws a home pod. @return the bonus for being placed there, per cent of the job's value
  std::int64_t settle(Job& job, Dice& dice) {
    const Preference& preference = dice.pick(kPreferences);
    job.home_pod = PodId(dice.below(cluster_.pods.size()));
    job.home_factor = out_.factor_row({1, 1, 1, preference.away});
    return preference.percent;
  }

  static constexpr std::int64_t kGpusOfOneTask = 8;  ///< largest job of one task, by definition

  const GenerateOptions& options_;
  const GangPreset& preset_;
  const model::Cluster& cluster_;
  std::vector<std::int64_t> sizes_;  // GPU thousandths by job
  WorkloadBuilder out_;
};

}  // namespace

model::Workload gang_jobs(const GenerateOptions& options, const GangPreset& preset,
                          const model::Cluster& cluster) {
  return GangJobs(options, preset, cluster).build();
}

}  // namespace berth::generate
