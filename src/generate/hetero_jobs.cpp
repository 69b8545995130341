// SPDX-License-Identifier: Apache-2.0
#include "hetero_jobs.hpp"

#include "draws.hpp"
#include "hetero_tables.hpp"
#include "job_mix.hpp"
#include "workload_builder.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace berth::generate {
namespace {

using model::Factors;
using model::Job;
using model::Level;
using model::Shape;

class HeteroJobs {
 public:
  HeteroJobs(const GenerateOptions& options, const model::Cluster& cluster)
      : options_(options),
        cluster_(cluster),
        sizes_(deal_sizes(options, without_above(kHeteroMix, max_job_gpus(options.gpus, 8)))),
        out_(sizes_.size(), cluster.gpu_types.size(), {"worker", "ps"}) {
    std::vector<bool> seen(cluster.racks.size());
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      const std::size_t rack = cluster.machine_rack[m].index();
      const model::MachineClass& c = cluster.class_of(MachineId(m));
      if (c.gpus == 0) continue;
      if (!seen[rack]) gpu_racks_.push_back({RackId(rack), c.gpu_type, 0});
      seen[rack] = true;
      gpu_racks_.back().gpus += c.gpus;
      rack_gpus_ = std::max(rack_gpus_, gpu_racks_.back().gpus);
    }
  }

  model::Workload build() {
    add_speeds();
    for (std::size_t j = 0; j < sizes_.size(); ++j) add_job(j, sizes_[j]);
    return out_.take();
  }

 private:
  struct GpuRack {
    RackId rack;
    GpuTypeId type;
    std::int64_t gpus;
  };

  void add_speeds() {
    for (const Profile& p : kProfiles) {
      std::vector<double> row;
      for (const std::string& name : cluster_.gpu_types) row.push_back(speed_of(p, name));
      out_.add_speed_row(row);
    }
  }

  void add_job(std::size_t j, std::int64_t milli) {
    Dice dice(options_.seed, j);
    Job job = out_.start_job(dice);
    const double u = dice.unit();
    job.priority = u < 0.6 ? 0 : u < 0.9 ? 1 : 2;
    const double tier = kTiers[static_cast<std::size_t>(job.priority)];
    job.weight = std::round(100.0 * tier * dice.pick(kLogNormal)) / 100.0;
    if (milli == 0) {
      cpu_tasks(job, dice);
    } else {
      if (milli == kShareClass) {
        share_task(dice);
      } else {
        gang(job, milli / 1000, dice);
      }
      tastes(job, milli / 1000, dice);
    }
    out_.finish_job(job);
  }

  void cpu_tasks(Job& job, Dice& dice) {
    const std::int64_t cores = std::int64_t{4} << dice.below(4);
    const auto count = dice.chance(0.8) ? 1 : 2 + static_cast<std::int32_t>(dice.below(3));
    out_.add_group({.needs = {1000 * cores, 4096 * cores}}, count, 0);
    if (dice.chance(0.5)) {  // the other half has no value: idle capacity suffices
      job.value = std::round(2.0 * job.weight * static_cast<double>(cores * count)) / 100.0;
    }
  }

  void share_task(Dice& dice) {
    const std::int32_t milli = dice.pick(kShares);
    const std::int64_t cores = (milli < 500 ? 1 : 2) << dice.below(2);
    out_.add_group({.needs = {1000 * cores, 4096 * cores}, .gpu_milli = milli}, 1, 0);
  }

  /// One task up to a machine's GPUs, a few of them split; larger jobs have workers of 8 or 4 GPUs.
  void gang(Job& job, std::int64_t gpus, Dice& dice) {
    std::int64_t each = gpus <= 8 ? gpus : gpus % 8 == 0 ? 8 : 4;
    if (dice.chance(0.15) && gpus > 1 && gpus != 3 && gpus != 6) each = gpus <= 4 ? 1 : 4;
    const auto workers = static_cast<std::int32_t>(gpus / each);
    out_.add_group(gpu_shape(each, dice), workers, 0);
    if (workers == 1) return;
    const bool one_machine = gpus <= 8 && dice.chance(0.5);
    if (gpus >= 8 && gpus <= 64 && dice.chance(0.08)) {
      out_.add_group({.needs = {8000, 32 * 1024}}, std::max(1, workers / 4), 1);
    }
    const double u = dice.unit();
    if (one_machine) job.domain = Level::machine;
    if (!one_machine && u < 0.5)
      job.domain = u < 0.2 && gpus <= rack_gpus_ / 2 ? Level::rack : Level::pod;
    if (job.domain > Level::rack) job.width_factor = out_.factor_row(dice.pick(kSpread));
  }

  static Shape gpu_shape(std::int64_t gpus, Dice& dice) {
    const double modest = gpus == 8 ? 0.75 : gpus >= 3 ? 0.88 : 1.0;
    const double u = modest * dice.unit();
    const Appetite& a =
        *std::ranges::find_if(kAppetites, [u](const Appetite& x) { return u < x.up_to; });
    return {.needs = {1000 * a.cores * gpus, 1024 * a.memory_gib * gpus},
            .gpus = static_cast<std::int32_t>(gpus)};
  }

  /// Draws speeds, home and allowed types; the home's type is always allowed.
  void tastes(Job& job, std::int64_t gpus, Dice& dice) {
    const bool language = gpus >= 32 && dice.chance(0.7);
    job.speed = language ? 1 : 1 + static_cast<std::uint32_t>(dice.below(kProfiles.size()));
    const GpuRack& near = dice.pick(gpu_racks_);
    if (dice.chance(0.3)) {
      if (gpus <= rack_gpus_ / 2 && dice.chance(0.5)) {
        job.home_rack = near.rack;
        job.home_factor = out_.factor_row(dice.pick(kHomeRack));
      } else {
        job.home_pod = cluster_.racks[near.rack.index()].pod;
        job.home_factor = out_.factor_row(dice.pick(kHomePod));
      }
    }
    if (dice.chance(0.25)) {
      job.gpu_types = std::uint64_t{1} << near.type.index();
      const std::size_t other = (near.type.index() + 1) % cluster_.gpu_types.size();
      if (dice.chance(0.6)) job.gpu_types |= std::uint64_t{1} << other;
    }
  }

  const GenerateOptions& options_;
  const model::Cluster& cluster_;
  std::vector<std::int64_t> sizes_;  // GPU thousandths by job
  WorkloadBuilder out_;
  std::vector<GpuRack> gpu_racks_;
  std::int64_t rack_gpus_ = 0;  // of the largest rack
};

}  // namespace

model::Workload hetero_jobs(const GenerateOptions& options, const model::Cluster& cluster) {
  return HeteroJobs(options, cluster).build();
}

}  // namespace berth::generate
