// SPDX-License-Identifier: Apache-2.0
#include "hetero_jobs.hpp"

#include "hetero_cluster.hpp"
#include "hetero_tables.hpp"
#include "job_mix.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/random.hpp"

namespace berth::policy {
namespace {

using model::Factors;
using model::Job;
using model::Level;
using model::Shape;

class Builder {
 public:
  Builder(const GenerateOptions& options, const model::Cluster& cluster)
      : options_(options), cluster_(cluster) {
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
    out_.speed_types = static_cast<std::uint32_t>(cluster.gpu_types.size());
    add_speeds();
    out_.labels = {"worker", "ps"};
  }

  model::Workload build() {
    const std::int64_t max_gpus =
        std::max<std::int64_t>(options_.gpus / 8, std::min<std::int64_t>(options_.gpus, 8));
    const double wanted = options_.load * 1000.0 * static_cast<double>(options_.gpus);
    const auto jobs =
        options_.jobs >= 0 ? options_.jobs : std::llround(wanted / mean_milli(max_gpus));
    const auto sizes = sizes_by_job(jobs, std::llround(wanted), max_gpus);
    out_.jobs.reserve(sizes.size());
    out_.groups.reserve(sizes.size());
    out_.job_names.reserve(sizes.size(), 10 * sizes.size());
    for (std::size_t j = 0; j < sizes.size(); ++j) add_job(j, sizes[j], sizes.size());
    return std::move(out_);
  }

 private:
  struct GpuRack {
    RackId rack;
    GpuTypeId type;
    std::int64_t gpus;
  };

  void add_speeds() {
    out_.speeds.assign(out_.speed_types, 1.0);  // row 0
    for (const Profile& p : kProfiles) {
      for (const std::string& name : cluster_.gpu_types) {
        out_.speeds.push_back(name == "H100"   ? p.h100
                              : name == "A100" ? p.a100
                              : name == "L40S" ? p.l40s
                                               : p.v100);
      }
    }
  }

  /// Deals the mix out to jobs in an order drawn from the seed: counts are exact, places random.
  [[nodiscard]] std::vector<std::int64_t> sizes_by_job(std::int64_t jobs, std::int64_t milli,
                                                       std::int64_t max_gpus) const {
    std::vector<std::pair<std::uint64_t, std::size_t>> order(static_cast<std::size_t>(jobs));
    for (std::size_t j = 0; j < order.size(); ++j) {
      order[j] = {random_bits({options_.seed, static_cast<std::uint64_t>(Draw::order), j}), j};
    }
    std::ranges::sort(order);
    std::vector<std::int64_t> result(order.size());
    std::size_t next = 0;
    for (const SizeCount& s : job_mix(jobs, milli, max_gpus)) {
      for (std::int64_t i = 0; i < s.jobs; ++i) result[order[next++].second] = s.milli;
    }
    return result;
  }

  void add_job(std::size_t j, std::int64_t milli, std::size_t jobs) {
    Dice dice(options_.seed, j);
    out_.job_names.add(fmt::format("job-{:06}", j));
    Job job;
    job.first_group = static_cast<std::uint32_t>(out_.groups.size());
    const double into_day = (static_cast<double>(j) + dice.unit()) / static_cast<double>(jobs);
    job.arrival = static_cast<std::int64_t>(into_day * static_cast<double>(kDay));
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
    job.groups = static_cast<std::uint32_t>(out_.groups.size()) - job.first_group;
    out_.jobs.push_back(job);
  }

  void cpu_tasks(Job& job, Dice& dice) {
    const std::int64_t cores = std::int64_t{4} << dice.below(4);
    const auto count = dice.chance(0.8) ? 1 : 2 + static_cast<std::int32_t>(dice.below(3));
    add_group({.cpu_milli = 1000 * cores, .memory_mib = 4096 * cores}, count, 0);
    if (dice.chance(0.5)) {  // the others are worth nothing: room left over is good enough
      job.value = std::round(2.0 * job.weight * static_cast<double>(cores * count)) / 100.0;
    }
  }

  void share_task(Dice& dice) {
    const std::int32_t milli = dice.pick(kShares);
    const std::int64_t cores = (milli < 500 ? 1 : 2) << dice.below(2);
    add_group({.cpu_milli = 1000 * cores, .memory_mib = 4096 * cores, .gpu_milli = milli}, 1, 0);
  }

  /// One task up to a machine's GPUs, a few of them split; larger jobs are workers of 8 or 4.
  void gang(Job& job, std::int64_t gpus, Dice& dice) {
    std::int64_t each = gpus <= 8 ? gpus : gpus % 8 == 0 ? 8 : 4;
    if (dice.chance(0.15) && gpus > 1 && gpus != 3 && gpus != 6) each = gpus <= 4 ? 1 : 4;
    const auto workers = static_cast<std::int32_t>(gpus / each);
    add_group(gpu_shape(each, dice), workers, 0);
    if (workers == 1) return;
    const bool one_machine = gpus <= 8 && dice.chance(0.5);
    if (gpus >= 8 && gpus <= 64 && dice.chance(0.08)) {
      add_group({.cpu_milli = 8000, .memory_mib = 32 * 1024}, std::max(1, workers / 4), 1);
    }
    const double u = dice.unit();
    if (one_machine) job.domain = Level::machine;
    if (!one_machine && u < 0.5)
      job.domain = u < 0.2 && gpus <= rack_gpus_ / 2 ? Level::rack : Level::pod;
    if (job.domain > Level::rack) job.spread_factor = factor_row(dice.pick(kSpread));
  }

  static Shape gpu_shape(std::int64_t gpus, Dice& dice) {
    const double modest = gpus == 8 ? 0.75 : gpus >= 3 ? 0.88 : 1.0;
    const double u = modest * dice.unit();
    const Appetite& a =
        *std::ranges::find_if(kAppetites, [u](const Appetite& x) { return u < x.up_to; });
    return {.cpu_milli = 1000 * a.cores * gpus,
            .memory_mib = 1024 * a.memory_gib * gpus,
            .gpus = static_cast<std::int32_t>(gpus)};
  }

  /// Speeds, home and allowed types; the home's type is always allowed.
  void tastes(Job& job, std::int64_t gpus, Dice& dice) {
    const bool language = gpus >= 32 && dice.chance(0.7);
    job.speed = language ? 1 : 1 + static_cast<std::uint32_t>(dice.below(kProfiles.size()));
    const GpuRack& near = dice.pick(gpu_racks_);
    if (dice.chance(0.3)) {
      if (gpus <= rack_gpus_ / 2 && dice.chance(0.5)) {
        job.home_rack = near.rack;
        job.home_factor = factor_row(dice.pick(kHomeRack));
      } else {
        job.home_pod = cluster_.racks[near.rack.index()].pod;
        job.home_factor = factor_row(dice.pick(kHomePod));
      }
    }
    if (dice.chance(0.25)) {
      job.gpu_types = std::uint64_t{1} << near.type.index();
      const std::size_t other = (near.type.index() + 1) % cluster_.gpu_types.size();
      if (dice.chance(0.6)) job.gpu_types |= std::uint64_t{1} << other;
    }
  }

  void add_group(const Shape& shape, std::int32_t count, std::uint32_t label) {
    const auto [at, fresh] = shape_ids_.try_emplace(shape, ShapeId(out_.shapes.size()));
    if (fresh) out_.shapes.push_back(shape);
    out_.groups.push_back({.shape = at->second, .count = count, .label = label});
  }

  std::uint32_t factor_row(const Factors& factors) {
    const auto found = std::ranges::find(out_.factors, factors);
    const auto row = static_cast<std::uint32_t>(found - out_.factors.begin());
    if (found == out_.factors.end()) out_.factors.push_back(factors);
    return row;
  }

  const GenerateOptions& options_;
  const model::Cluster& cluster_;
  std::vector<GpuRack> gpu_racks_;
  std::int64_t rack_gpus_ = 0;  // of the largest rack
  std::map<Shape, ShapeId> shape_ids_;
  model::Workload out_;
};

}  // namespace

model::Workload hetero_jobs(const GenerateOptions& options, const model::Cluster& cluster) {
  return Builder(options, cluster).build();
}

}  // namespace berth::policy
