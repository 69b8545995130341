// SPDX-License-Identifier: Apache-2.0
#include "shard_preference.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "berth/base/infinity.hpp"

namespace berth::coordinator {
namespace {

using model::Level;

/// Least price per GPU of each type: in a rack, in a pod, anywhere.
class LeastPrices {
 public:
  LeastPrices(const model::Cluster& cluster, const model::Pools& pools,
              std::span<const double> prices)
      : types_(cluster.gpu_types.size()),
        anywhere_(types_, kInfinity),
        pod_(types_ * cluster.pods.size(), kInfinity),
        rack_(types_ * cluster.racks.size(), kInfinity) {
    for (std::size_t p = 0; p < pools.size(); ++p) {
      const model::Pool& pool = pools.pools[p];
      if (!pool.gpu_type.valid()) continue;
      const std::size_t t = pool.gpu_type.index();
      anywhere_[t] = std::min(anywhere_[t], prices[p]);
      lower(pod_[pool.pod.index() * types_ + t], prices[p]);
      if (pool.rack.valid()) lower(rack_[pool.rack.index() * types_ + t], prices[p]);
    }
  }

  [[nodiscard]] double anywhere(GpuTypeId t) const { return anywhere_[t.index()]; }
  [[nodiscard]] double in(PodId pod, GpuTypeId t) const {
    return pod_[pod.index() * types_ + t.index()];
  }
  [[nodiscard]] double in(RackId r, GpuTypeId t) const {
    return rack_[r.index() * types_ + t.index()];
  }

 private:
  static void lower(double& price, double other) { price = std::min(price, other); }
  std::size_t types_;
  std::vector<double> anywhere_, pod_, rack_;
};

/// How many GPUs of each type the largest machine, rack and pod have.
class LargestDomains {
 public:
  explicit LargestDomains(const model::Cluster& cluster)
      : most_(cluster.gpu_types.size(), {0.0, 0.0, 0.0}) {
    for (std::size_t t = 0; t < most_.size(); ++t) {
      std::vector<double> rack(cluster.racks.size(), 0.0), pod(cluster.pods.size(), 0.0);
      for (std::size_t m = 0; m < cluster.machines(); ++m) {
        const model::MachineClass& c = cluster.class_of(MachineId(m));
        if (c.gpu_type != GpuTypeId(t)) continue;
        most_[t][0] = std::max<double>(most_[t][0], c.gpus);
        rack[cluster.machine_rack[m].index()] += c.gpus;
        pod[cluster.pod_of(MachineId(m)).index()] += c.gpus;
      }
      for (const double gpus : rack) most_[t][1] = std::max(most_[t][1], gpus);
      for (const double gpus : pod) most_[t][2] = std::max(most_[t][2], gpus);
    }
  }

  /// The narrowest level in which some domain holds so many GPUs.
  [[nodiscard]] Level narrowest(GpuTypeId type, double gpus) const {
    const auto& most = most_[type.index()];
    for (std::size_t l = 0; l < most.size(); ++l) {
      if (gpus <= most[l]) return static_cast<Level>(l);
    }
    return Level::cluster;
  }

 private:
  std::vector<std::array<double, 3>> most_;  ///< by type: of a machine, rack, pod
};

/// The shard of a machine of each rack and pod; invalid where there is none.
struct ShardsOfDomains {
  ShardsOfDomains(const model::Cluster& cluster, const partition::Shards& shards)
      : of_rack(cluster.racks.size()), of_pod(cluster.pods.size()) {
    for (std::size_t m = cluster.machines(); m-- > 0;) {
      of_rack[cluster.machine_rack[m].index()] = shards.of_machine[m];
      of_pod[cluster.pod_of(MachineId(m)).index()] = shards.of_machine[m];
    }
  }
  std::vector<ShardId> of_rack, of_pod;
};

class PreferenceBuilder {
 public:
  PreferenceBuilder(const model::Valuation& valuation, const model::Pools& pools,
                    const partition::Shards& shards, std::span<const double> prices)
      : valuation_(valuation),
        cluster_(valuation.instance().cluster),
        workload_(valuation.instance().workload),
        pools_(pools),
        prices_(prices),
        price_(cluster_, pools, prices),
        largest_(cluster_),
        shard_(cluster_, shards) {}

  [[nodiscard]] ShardPreference of(JobId id) const {
    const model::Job& job = workload_.job(id);
    ShardPreference preference{.job = id,
                               .type = {},
                               .home = {},
                               .one_task = workload_.tasks(job) == 1,
                               .keeps_place = false,
                               .profit = -kInfinity,
                               .gpus = static_cast<double>(workload_.gpu_milli(job)) / 1000.0,
                               .precedence = model::precedence(valuation_, id)};
    if (const model::Running* running = workload_.running_of(job)) {
      preference.keeps_place = worth_keeping(model::current_placement(workload_, *running));
    }
    const Level near = choose_option(job, preference);
    if (near != Level::cluster) preference.home = home_shard(job, near);
    return preference;
  }

 private:
  /// The best option, and how near to home it lies: rack or pod; cluster is anywhere.
  Level choose_option(const model::Job& job, ShardPreference& best) const {
    Level nearest = Level::cluster;
    if (best.gpus <= 0.0) return nearest;
    const auto offer = [&](GpuTypeId type, Level near, double price) {
      if (price == kInfinity) return;
      const Level width = largest_.narrowest(type, best.gpus);
      const double profit = valuation_.option(best.job, type, width, near) - best.gpus * price;
      if (profit > best.profit) best.profit = profit, best.type = type, nearest = near;
    };
    const bool home = job.home_rack.valid() || job.home_pod.valid();
    const PodId pod =
        job.home_rack.valid() ? cluster_.racks[job.home_rack.index()].pod : job.home_pod;
    for (std::size_t t = 0; t < cluster_.gpu_types.size(); ++t) {
      if (((job.gpu_types >> t) & 1) == 0) continue;
      const GpuTypeId type{t};
      if (job.home_rack.valid()) {
        // Pools by pod do not know racks: the pod's price stands for the home rack's.
        const bool by_rack = pools_.level == Level::rack;
        offer(type, Level::rack, by_rack ? price_.in(job.home_rack, type) : price_.in(pod, type));
      }
      if (home) offer(type, Level::pod, price_.in(pod, type));
      offer(type, home ? Level::cluster : Level::machine, price_.anywhere(type));
    }
    return home ? nearest : Level::cluster;
  }

  [[nodiscard]] ShardId home_shard(const model::Job& job, Level near) const {
    ShardId shard;
    if (near == Level::rack || job.home_rack.valid()) shard = shard_.of_rack[job.home_rack.index()];
    if (near == Level::pod && job.home_pod.valid()) shard = shard_.of_pod[job.home_pod.index()];
    if (!shard.valid())  // the home rack has no machines, its pod has
      shard = shard_.of_pod[cluster_.racks[job.home_rack.index()].pod.index()];
    return shard;
  }

  [[nodiscard]] bool worth_keeping(const model::JobPlacement& present) const {
    if (workload_.job(present.job).required) return true;
    double cost = 0.0;
    for (const model::TaskPlacement& t : present.tasks) {
      cost += prices_[pools_.of_machine[t.machine.index()].index()] * t.milli *
              std::popcount(t.devices) / 1000.0;
    }
    return valuation_.placed(present) >= cost;
  }

  const model::Valuation& valuation_;
  const model::Cluster& cluster_;
  const model::Workload& workload_;
  const model::Pools& pools_;
  std::span<const double> prices_;
  LeastPrices price_;
  LargestDomains largest_;
  ShardsOfDomains shard_;
};

}  // namespace

std::vector<ShardPreference> shard_preferences(const model::Valuation& valuation,
                                               const model::Pools& pools,
                                               const partition::Shards& shards,
                                               std::span<const double> prices,
                                               std::span<const JobId> jobs) {
  const PreferenceBuilder builder(valuation, pools, shards, prices);
  std::vector<ShardPreference> all;
  all.reserve(jobs.size());
  for (const JobId job : jobs) all.push_back(builder.of(job));
  return all;
}

}  // namespace berth::coordinator
