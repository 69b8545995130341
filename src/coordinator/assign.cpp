// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/assign.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>

#include "berth/coordinator/wire.hpp"
#include "berth/model/free_machine.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {
namespace {

using model::Level;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Least price per GPU of each type: in a rack, in a pod, anywhere.
class PriceMap {
 public:
  PriceMap(const model::Cluster& cluster, const model::Pools& pools, std::span<const double> prices)
      : types_(cluster.gpu_types.size()),
        anywhere_(types_, kNever),
        pod_(types_ * cluster.pods.size(), kNever),
        rack_(types_ * cluster.racks.size(), kNever) {
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
class Spread {
 public:
  explicit Spread(const model::Cluster& cluster)
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

/// Where a job would like to lie at these prices.
struct Wish {
  double profit = -kNever;
  GpuTypeId type;
  Level near = Level::cluster;  ///< rack or pod: at home; cluster: anywhere
};

class Assigner {
 public:
  Assigner(const model::Valuation& valuation, const model::Pools& pools,
           const partition::Shards& shards, std::span<const double> prices, const StopToken& stop,
           const model::Limits* limits)
      : valuation_(valuation),
        cluster_(valuation.instance().cluster),
        workload_(valuation.instance().workload),
        pools_(pools),
        shards_(shards),
        stop_(stop),
        limits_(limits),
        prices_(prices),
        price_(cluster_, pools, prices),
        spread_(cluster_),
        room_(shards.size(), std::vector<double>(cluster_.gpu_types.size(), 0.0)),
        claimed_(room_),
        shard_of_rack_(cluster_.racks.size()),
        shard_of_pod_(cluster_.pods.size()) {
    for (std::size_t m = cluster_.machines(); m-- > 0;) {
      const ShardId s = shards.of_machine[m];
      shard_of_rack_[cluster_.machine_rack[m].index()] = s;
      shard_of_pod_[cluster_.pod_of(MachineId(m)).index()] = s;
      const GpuTypeId type = cluster_.class_of(MachineId(m)).gpu_type;
      if (!type.valid()) continue;
      const auto milli = model::FreeMachine(cluster_, MachineId(m)).milli();
      room_[s.index()][type.index()] += static_cast<double>(milli) / 1000.0;
    }
  }

  Assignment run() {
    Assignment result{
        .shard_of = std::vector<ShardId>(workload_.jobs.size()), .spanning = {}, .kept = {}};
    const std::vector<char> settled = keep_running(result);
    std::vector<std::pair<double, JobId>> large;
    std::vector<std::tuple<int, double, JobId>> order;
    wishes_.reserve(workload_.jobs.size());
    for (std::size_t j = 0; j < workload_.jobs.size(); ++j) {
      const JobId job{j};
      wishes_.push_back(wish(job));
      if (settled[j] != 0) continue;
      if (spans(job)) {
        large.emplace_back(-wishes_[j].profit / gpus(job), job);
      } else {
        order.emplace_back(wishes_[j].profit > 0.0 ? 0 : 1, -gpus(job), job);
      }
    }
    std::ranges::sort(large);
    place_spanning(large, result);
    std::ranges::sort(order);
    for (const auto& [late, size, job] : order) result.shard_of[job.index()] = claim(job);
    return result;
  }

 private:
  /// Running jobs whose place is worth its price stay there for now, and so do required ones; the
  /// others are jobs like those that wait. By JobId: the job is settled (pinned, or kept).
  std::vector<char> keep_running(Assignment& result) {
    std::vector<char> settled(workload_.jobs.size(), 0);
    for (const model::Running& running : workload_.running) {
      const model::JobPlacement present = model::present_placement(workload_, running);
      settled[running.job.index()] = running.pinned || worth_keeping(present) ? 1 : 0;
      if (running.pinned || settled[running.job.index()] == 0) continue;
      const auto shard = [&](const model::TaskPlacement& t) {
        return shards_.of_machine[t.machine.index()];
      };
      const ShardId first = shard(present.tasks.front());
      const bool inside = std::ranges::all_of(
          present.tasks, [&](const model::TaskPlacement& t) { return shard(t) == first; });
      for (const model::TaskPlacement& t : present.tasks) {
        const GpuTypeId type = cluster_.class_of(t.machine).gpu_type;
        if (!type.valid()) continue;
        claimed_[shard(t).index()][type.index()] += t.milli * std::popcount(t.devices) / 1000.0;
      }
      (inside ? result.kept : result.spanning).push_back(present);
    }
    return settled;
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

  [[nodiscard]] double gpus(JobId job) const {
    return static_cast<double>(workload_.gpu_milli(workload_.job(job))) / 1000.0;
  }

  [[nodiscard]] Wish wish(JobId id) const {
    const model::Job& job = workload_.job(id);
    const double n = gpus(id);
    Wish best;
    if (n <= 0.0) return best;
    const auto offer = [&](GpuTypeId type, Level near, double price) {
      if (price == kNever) return;
      const double profit =
          valuation_.option(id, type, spread_.narrowest(type, n), near) - n * price;
      if (profit > best.profit) best = {profit, type, near};
    };
    for (std::size_t t = 0; t < cluster_.gpu_types.size(); ++t) {
      if (((job.gpu_types >> t) & 1) == 0) continue;
      const GpuTypeId type{t};
      const bool home = job.home_rack.valid() || job.home_pod.valid();
      const PodId pod =
          job.home_rack.valid() ? cluster_.racks[job.home_rack.index()].pod : job.home_pod;
      if (job.home_rack.valid()) {
        // Pools by pod do not know racks: the pod's price stands for the home rack's.
        const bool by_rack = pools_.level == Level::rack;
        offer(type, Level::rack, by_rack ? price_.in(job.home_rack, type) : price_.in(pod, type));
      }
      if (home) offer(type, Level::pod, price_.in(pod, type));
      offer(type, home ? Level::cluster : Level::machine, price_.anywhere(type));
    }
    return best;
  }

  /// Larger than half of the largest shard's room of the type it wants.
  [[nodiscard]] bool spans(JobId job) const {
    if (workload_.tasks(workload_.job(job)) == 1) return false;  // lies on one machine, so in one
    const GpuTypeId type = wishes_[job.index()].type;
    if (shards_.size() == 1 || !type.valid()) return false;
    double largest = 0.0;
    for (const auto& room : room_) largest = std::max(largest, room[type.index()]);
    return gpus(job) > largest / 2;
  }

  void place_spanning(std::span<const std::pair<double, JobId>> large, Assignment& result) {
    if (large.empty()) return;
    std::vector<MachineId> all;
    for (std::size_t m = 0; m < cluster_.machines(); ++m) all.emplace_back(m);
    solver::Shard whole(ShardId{}, valuation_, pools_, std::move(all),
                        {.stop = stop_, .limits = limits_});
    model::Ledger taken(valuation_.instance(), limits_);
    for (const model::Placement* part : {&result.spanning, &result.kept}) {
      for (const model::JobPlacement& p : *part) whole.reserve(p), taken.add(p);
    }
    for (std::size_t l = 0; l < taken.size(); ++l) {
      const std::int64_t capacity = limits_->capacity(l);
      if (capacity == model::Ledger::kNoLimit) continue;
      whole.allow(l, std::max<std::int64_t>(0, capacity - taken.use(l)));
    }
    for (const auto& [profit, job] : large) {
      if (-profit > 0.0) whole.realise(job, 0.0);
    }
    const model::Placement gangs = whole.placement();  // a later one may have pushed one out
    const auto placed = [&](JobId job) {
      return std::ranges::binary_search(gangs, job, {}, &model::JobPlacement::job);
    };
    for (const auto& [profit, job] : large) {
      if (!placed(job)) result.shard_of[job.index()] = claim(job);
    }
    result.spanning.insert(result.spanning.end(), gangs.begin(), gangs.end());
  }

  ShardId claim(JobId job) {
    const Wish& wish = wishes_[job.index()];
    const model::Job& record = workload_.job(job);
    ShardId shard = least_claimed(wish, gpus(job));
    if (wish.near == Level::rack) shard = shard_of_rack_[record.home_rack.index()];
    if (wish.near == Level::pod && record.home_pod.valid())
      shard = shard_of_pod_[record.home_pod.index()];
    if (wish.near == Level::pod && record.home_rack.valid())
      shard = shard_of_rack_[record.home_rack.index()];
    if (!shard.valid())  // the home rack has no machines, its pod has
      shard = shard_of_pod_[cluster_.racks[record.home_rack.index()].pod.index()];
    if (wish.type.valid()) claimed_[shard.index()][wish.type.index()] += gpus(job);
    return shard;
  }

  /// The shard whose room of the type is claimed least, relative to what it has; CPU-only jobs and
  /// jobs no machine can run go round by how much is claimed in all.
  [[nodiscard]] ShardId least_claimed(const Wish& wish, double n) {
    if (!wish.type.valid()) return ShardId(next_++ % shards_.size());
    std::size_t best = 0;
    double best_load = kNever;
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      const double room = room_[s][wish.type.index()];
      const double load = room < n ? 1e9 - room : (claimed_[s][wish.type.index()] + n) / room;
      if (load < best_load) best = s, best_load = load;
    }
    return ShardId(best);
  }

  const model::Valuation& valuation_;
  const model::Cluster& cluster_;
  const model::Workload& workload_;
  const model::Pools& pools_;
  const partition::Shards& shards_;
  StopToken stop_;
  const model::Limits* limits_;
  std::span<const double> prices_;
  PriceMap price_;
  Spread spread_;
  std::vector<std::vector<double>> room_, claimed_;  ///< GPUs by shard and type
  std::vector<ShardId> shard_of_rack_, shard_of_pod_;
  std::vector<Wish> wishes_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<JobId> Assignment::jobs_of(ShardId shard) const {
  std::vector<JobId> jobs;
  for (std::size_t j = 0; j < shard_of.size(); ++j) {
    if (shard_of[j] == shard) jobs.emplace_back(j);
  }
  return jobs;
}

std::vector<JobId> Assignment::open_jobs() const {
  std::vector<JobId> jobs;
  for (std::size_t j = 0; j < shard_of.size(); ++j) {
    if (shard_of[j].valid()) jobs.emplace_back(j);
  }
  return jobs;
}

Assignment assign(const comm::Communicator& comm, const model::Valuation& valuation,
                  const model::Pools& pools, const partition::Shards& shards,
                  std::span<const double> prices, const StopToken& stop,
                  const model::Limits* limits) {
  Assignment result;
  if (comm.rank() == 0) result = Assigner(valuation, pools, shards, prices, stop, limits).run();
  comm.broadcast_vector(result.shard_of, 0);
  for (model::Placement* part : {&result.spanning, &result.kept}) {
    auto stream = to_wire(*part);
    comm.broadcast_vector(stream, 0);
    *part = from_wire(stream);
  }
  return result;
}

}  // namespace berth::coordinator
