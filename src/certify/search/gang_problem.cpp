// SPDX-License-Identifier: Apache-2.0
#include "search/gang_problem.hpp"

#include "exact.hpp"
#include "job_value.hpp"
#include "machine_variants.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace berth::certify::search {
namespace {

using model::Level;

constexpr std::int64_t kMostUnits = 1'000'000;  ///< guard of the tables, and of 32 bits

/// A rack, a pod (no rack) or the cluster (neither), of one GPU type.
struct Spot {
  GpuTypeId type;
  PodId pod;
  RackId rack;
};

/// What a job gains over being unplaced, by spot.
class GangGain {
 public:
  GangGain(const model::InstanceView& instance, model::Objective objective, int scale_log2,
           JobId id)
      : instance_(instance),
        job_(instance.workload.job(id)),
        scale_(scale_log2),
        one_task_(instance.workload.tasks(job_) == 1),
        worth_(instance, objective, job_),
        stop_(fixed_down(worth_.stop_cost(), scale_)),
        shift_(stop_ - fixed_down(worth_.move_cost(), scale_)) {
    const auto now = present(instance.workload, id);
    if (!now || !may_stay(instance.cluster, *now)) return;
    const PlacementExtent at = extent_of(instance, *now);
    const MachineId first = now->tasks.front().machine;
    now_ = {at.type, at.width <= Level::pod ? instance.cluster.pod_of(first) : PodId{},
            at.width <= Level::rack ? instance.cluster.machine_rack[first.index()] : RackId{}};
    staying_ = fixed_up(worth_.at(at.type, at.width, at.distance), scale_) + stop_;
  }

  [[nodiscard]] Int128 at(const Spot& spot) const {
    Int128 most = 0;
    if (staying_ &&
        std::tie(spot.type, spot.pod, spot.rack) == std::tie(now_.type, now_.pod, now_.rack)) {
      most = std::max(most, *staying_);
    }
    if (((job_.gpu_types >> spot.type.value()) & 1) == 0) return most;
    const Level distance = distance_of(spot);
    const Level width = spot.rack.valid()  ? Level::rack
                        : spot.pod.valid() ? Level::pod
                                           : Level::cluster;
    if (width == Level::rack) most = std::max(most, gain(spot.type, Level::machine, distance));
    if (!one_task_ && job_.domain >= width) {
      most = std::max(most, gain(spot.type, width, distance));
    }
    return most;
  }

  /// Without GPUs: the most at any width and distance.
  [[nodiscard]] Int128 anywhere() const {
    Int128 most = std::max<Int128>(0, staying_.value_or(0));
    for (int width = 0; width < model::kLevels; ++width) {
      for (int distance = 0; distance < model::kLevels; ++distance) {
        most = std::max(most, gain({}, static_cast<Level>(width), static_cast<Level>(distance)));
      }
    }
    return most;
  }

 private:
  [[nodiscard]] Int128 gain(GpuTypeId type, Level width, Level distance) const {
    return fixed_up(worth_.at(type, width, distance), scale_) + shift_;
  }

  /// Of the farthest task from home.
  [[nodiscard]] Level distance_of(const Spot& spot) const {
    const bool at_rack = job_.home_rack.valid();
    if (!at_rack && !job_.home_pod.valid()) return Level::machine;
    if (at_rack && spot.rack == job_.home_rack) return Level::rack;
    const PodId home =
        at_rack ? instance_.cluster.racks[job_.home_rack.index()].pod : job_.home_pod;
    return spot.pod == home ? Level::pod : Level::cluster;
  }

  model::InstanceView instance_;
  const model::Job& job_;
  int scale_;
  bool one_task_;
  JobValue worth_;
  Int128 stop_, shift_;
  Spot now_;
  std::optional<Int128> staying_;
};

class ProblemBuilder {
 public:
  ProblemBuilder(const model::InstanceView& instance, model::Objective objective, int scale_log2)
      : instance_(instance), objective_(objective), scale_(scale_log2) {}

  std::optional<GangProblem> build(std::size_t most) {
    const model::WorkloadView& workload = instance_.workload;
    for (const JobId id : model::planned_jobs(workload)) {
      const GangGain gain(instance_, objective_, scale_, id);
      const model::Job& job = workload.job(id);
      const std::int64_t milli = milli_of(workload, job);
      if (milli == 0) {
        result_.others += gain.anywhere();
        continue;
      }
      if (gains_.size() == most) return std::nullopt;
      gains_.push_back(gain);
      milli_.push_back(milli);
      unit_ = std::gcd(unit_, milli);
      for (const model::TaskGroup& group : workload.groups_of(job)) {
        task_ = std::gcd(task_, workload.shape(group.shape).total_milli());
      }
    }
    if (gains_.empty()) return std::move(result_);
    if (instance_.cluster.gpus() * model::kGpuMilli / unit_ > kMostUnits) return std::nullopt;
    if (std::ranges::any_of(milli_, [&](std::int64_t m) { return m / unit_ > kMostUnits; })) {
      return std::nullopt;
    }
    for (const std::int64_t milli : milli_) {
      result_.gangs.push_back({static_cast<std::int32_t>(milli / unit_), {}});
    }
    add_places();
    finish();
    return std::move(result_);
  }

 private:
  struct Racks {
    std::map<RackId, std::int64_t> milli;
  };
  using Pods = std::map<PodId, Racks>;

  /// Thousandths that tasks can use of the free devices.
  [[nodiscard]] std::map<GpuTypeId, Pods> room() const {
    const model::Cluster& cluster = instance_.cluster;
    const MachineVariants variants(cluster);
    const bool whole_devices = task_ % model::kGpuMilli == 0;
    std::map<GpuTypeId, Pods> by_type;
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      const MachineId id(m);
      const GpuTypeId type = cluster.class_of(id).gpu_type;
      if (!type.valid()) continue;
      const MachineVariant& free = variants[variants.of(id)];
      const std::int64_t milli = whole_devices ? model::kGpuMilli * free.whole : free.free_milli();
      by_type[type][cluster.pod_of(id)].milli[cluster.machine_rack[m]] += milli / task_ * task_;
    }
    return by_type;
  }

  void add_places() {
    for (const auto& [type, pods] : room()) {
      std::int64_t of_type = 0;
      for (const auto& [pod, racks] : pods) {
        for (const auto& [rack, milli] : racks.milli) of_type += milli;
      }
      const std::int32_t cluster = add({type, {}, {}}, of_type, -1);
      for (const auto& [pod, racks] : pods) {
        std::int64_t of_pod = 0;
        for (const auto& [rack, milli] : racks.milli) of_pod += milli;
        const std::int32_t above = add({type, pod, {}}, of_pod, cluster);
        for (const auto& [rack, milli] : racks.milli) add({type, pod, rack}, milli, above);
      }
    }
  }

  /// Adds the place, unless all jobs gain as much in the place above. @return its number, or that
  std::int32_t add(const Spot& spot, std::int64_t milli, std::int32_t above) {
    std::vector<Int128> gain;
    bool wanted = false;
    for (std::size_t j = 0; j < gains_.size(); ++j) {
      gain.push_back(milli_[j] <= milli ? gains_[j].at(spot) : 0);
      const Int128 wider = above < 0 ? 0 : result_.gangs[j].gain[static_cast<std::size_t>(above)];
      wanted = wanted || gain.back() > wider;
    }
    if (!wanted) return above;
    for (std::size_t j = 0; j < gain.size(); ++j) result_.gangs[j].gain.push_back(gain[j]);
    result_.places.push_back({above, static_cast<std::int32_t>(milli / unit_)});
    return static_cast<std::int32_t>(result_.places.size()) - 1;
  }

  void finish() {
    std::erase_if(result_.gangs, [](const GangProblem::Gang& gang) {
      return std::ranges::all_of(gang.gain, [](Int128 gain) { return gain <= 0; });
    });
    std::ranges::stable_sort(result_.gangs,
                             [](const GangProblem::Gang& a, const GangProblem::Gang& b) {
                               return a.size != b.size ? a.size > b.size : a.gain > b.gain;
                             });
  }

  model::InstanceView instance_;
  model::Objective objective_;
  int scale_;
  std::vector<GangGain> gains_;      ///< by job with GPUs
  std::vector<std::int64_t> milli_;  ///< the same
  std::int64_t unit_ = 0, task_ = 0;
  GangProblem result_;
};

}  // namespace

std::optional<GangProblem> gang_problem(const model::InstanceView& instance,
                                        model::Objective objective, int scale_log2,
                                        std::size_t most) {
  return ProblemBuilder(instance, objective, scale_log2).build(most);
}

}  // namespace berth::certify::search
