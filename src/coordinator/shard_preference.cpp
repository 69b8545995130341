// SPDX-License-Identifier: Apache-2.0
#include "shard_preference.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <ranges>
#include <set>

#include "berth/base/infinity.hpp"
#include "berth/planner_model/home.hpp"
#include "berth/planner_model/option_enumerator.hpp"

namespace berth::coordinator {
namespace {

using model::Level;

/// Least price per GPU of each type in each rack, in each pod and in the cluster.
class LeastPrices {
 public:
  LeastPrices(const model::Cluster& cluster, const planner_model::Pools& pools,
              std::span<const double> prices)
      : types_(cluster.gpu_types.size()),
        anywhere_(types_, kInfinity),
        pod_(types_ * cluster.pods.size(), kInfinity),
        rack_(types_ * cluster.racks.size(), kInfinity) {
    for (std::size_t p = 0; p < pools.size(); ++p) {
      const planner_model::Pool& pool = pools.pools[p];
      if (!pool.gpu_type.valid()) continue;
      const std::size_t t = pool.gpu_type.index();
      anywhere_[t] = std::min(anywhere_[t], prices[p]);
      lower(pod_[pool.pod.index() * types_ + t], prices[p]);
      if (pool.rack.valid()) lower(rack_[pool.rack.index() * types_ + t], prices[p]);
    }
  }

  /// Least price of the pools of this type inside the scope; infinite without such pools.
  [[nodiscard]] double least(const planner_model::HomeScope& scope, GpuTypeId type) const {
    const auto row = static_cast<std::size_t>(scope.domain) * types_ + type.index();
    switch (scope.level) {
      case Level::rack:
        return rack_[row];
      case Level::pod:
        return pod_[row];
      default:
        return anywhere_[type.index()];
    }
  }

 private:
  static void lower(double& price, double other) { price = std::min(price, other); }
  std::size_t types_;
  std::vector<double> anywhere_, pod_, rack_;
};

/// Largest number of GPUs of each type in one machine, rack and pod.
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

  /// Narrowest level at which some domain has this many GPUs of the type.
  [[nodiscard]] Level narrowest(GpuTypeId type, double gpus) const {
    const auto& most = most_[type.index()];
    for (std::size_t l = 0; l < most.size(); ++l) {
      if (gpus <= most[l]) return static_cast<Level>(l);
    }
    return Level::cluster;
  }

 private:
  std::vector<std::array<double, 3>> most_;  ///< by type: GPUs of a machine, rack, pod
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

/// Most machines, racks and pods of one shard, by Level.
std::array<std::int64_t, model::kLevels - 1> most_domains(const model::Cluster& cluster,
                                                          const partition::Shards& shards) {
  std::array<std::int64_t, model::kLevels - 1> most{};
  for (const std::vector<MachineId>& machines : shards.machines) {
    std::set<RackId> racks;
    std::set<PodId> pods;
    for (const MachineId m : machines) {
      racks.insert(racks.end(), cluster.machine_rack[m.index()]);
      pods.insert(pods.end(), cluster.pod_of(m));
    }
    most[0] = std::max(most[0], std::ssize(machines));
    most[1] = std::max(most[1], std::ssize(racks));
    most[2] = std::max(most[2], std::ssize(pods));
  }
  return most;
}

class PreferenceBuilder {
 public:
  explicit PreferenceBuilder(const Decomposition& decomposition)
      : valuation_(decomposition.valuation),
        cluster_(valuation_.instance().cluster),
        workload_(valuation_.instance().workload),
        pools_(decomposition.pools),
        prices_(decomposition.prices),
        price_(cluster_, pools_, prices_),
        largest_(cluster_),
        shard_(cluster_, decomposition.shards),
        most_domains_(most_domains(cluster_, decomposition.shards)) {}

  [[nodiscard]] ShardPreference of(JobId id) const {
    const model::Job& job = workload_.job(id);
    ShardPreference preference{.job = id,
                               .type = {},
                               .home = {},
                               .one_task = workload_.tasks(job) == 1,
                               .exceeds_shards = exceeds_shards(job),
                               .keeps_place = false,
                               .profit = -kInfinity,
                               .gpus = static_cast<double>(workload_.gpu_milli(job)) / 1000.0,
                               .precedence = planner_model::precedence(valuation_, id)};
    if (const model::Running* running = workload_.running_of(job)) {
      preference.keeps_place = worth_keeping(planner_model::current_placement(workload_, *running));
    }
    if (choose_option(preference) != Level::cluster) preference.home = home_shard(job);
    return preference;
  }

 private:
  [[nodiscard]] bool exceeds_shards(const model::Job& job) const {
    const model::PlacementRules& rules = workload_.rules_of(job);
    const std::int64_t tasks = workload_.tasks(job);
    for (std::size_t l = 0; job.rules != 0 && l < most_domains_.size(); ++l) {
      const std::int64_t most = rules.max_tasks[l];
      if (std::max<std::int64_t>(rules.min_domains[l], (tasks + most - 1) / most) >
          most_domains_[l]) {
        return true;
      }
    }
    return false;
  }

  /// Finds the best option, near home first, each in the narrowest level that holds the job's GPUs.
  /// Returns the level of the domain around home that contains it.
  Level choose_option(ShardPreference& best) const {
    Level confined_to = Level::cluster;
    if (best.gpus <= 0.0) return confined_to;
    const planner_model::OptionEnumerator options(valuation_, best.job, pools_.level);
    const model::Job& job = workload_.job(best.job);
    const Level least = model::narrowest_width(workload_.rules_of(job), workload_.tasks(job));
    for (const GpuTypeId type : options.types()) {
      const Level width = std::max(least, largest_.narrowest(type, best.gpus));
      for (const planner_model::HomeScope& scope : std::views::reverse(options.scopes())) {
        const double price = price_.least(scope, type);
        if (price == kInfinity) continue;
        const double profit = options.value({type, width, scope}) - best.gpus * price;
        if (profit > best.profit) {
          best.profit = profit, best.type = type, confined_to = scope.level;
        }
      }
    }
    return confined_to;
  }

  /// The shard of the home rack, or of the home pod if there is no home rack or it has no machines.
  [[nodiscard]] ShardId home_shard(const model::Job& job) const {
    ShardId shard;
    if (job.home_rack.valid()) shard = shard_.of_rack[job.home_rack.index()];
    return shard.valid() ? shard : shard_.of_pod[planner_model::home_pod(cluster_, job).index()];
  }

  [[nodiscard]] bool worth_keeping(const model::JobPlacement& present) const {
    if (!planner_model::may_stay(cluster_, present)) return false;
    if (workload_.job(present.job).required) return true;
    double cost = 0.0;
    for (const model::TaskPlacement& t : present.tasks) {
      cost +=
          prices_[pools_.pool_of(t.machine).index()] * t.milli * std::popcount(t.devices) / 1000.0;
    }
    return valuation_.placed(present) >= cost;
  }

  const planner_model::Valuation& valuation_;
  const model::Cluster& cluster_;
  model::WorkloadView workload_;
  const planner_model::Pools& pools_;
  std::span<const double> prices_;
  LeastPrices price_;
  LargestDomains largest_;
  ShardsOfDomains shard_;
  std::array<std::int64_t, model::kLevels - 1> most_domains_;  ///< of one shard
};

}  // namespace

std::vector<ShardPreference> shard_preferences(const Decomposition& decomposition,
                                               std::span<const JobId> jobs) {
  const PreferenceBuilder builder(decomposition);
  std::vector<ShardPreference> all;
  all.reserve(jobs.size());
  for (const JobId job : jobs) all.push_back(builder.of(job));
  return all;
}

}  // namespace berth::coordinator
