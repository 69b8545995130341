// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "berth/base/assert.hpp"
#include "berth/partition/partition.hpp"
#include "berth/strads/schedule.hpp"

namespace berth::partition {
namespace {

using model::Cluster;

/// Contiguous machines [begin, end): a pod, a rack or a piece of one.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Weight of a machine: 16 for each GPU and 1, so that CPU-only machines are dealt evenly too.
std::int64_t weight_of(const Cluster& cluster, std::size_t machine) {
  return 16 * std::int64_t{cluster.class_of(MachineId(machine)).gpus} + 1;
}

std::int64_t weight_of(const Cluster& cluster, Range range) {
  std::int64_t total = 0;
  for (std::size_t m = range.begin; m < range.end; ++m) total += weight_of(cluster, m);
  return total;
}

/// Runs of machines with the same key, in id order.
template <class Key>
std::vector<Range> runs(Range within, Key key) {
  std::vector<Range> result;
  for (std::size_t m = within.begin; m < within.end; ++m) {
    if (result.empty() || key(m) != key(m - 1)) result.push_back({m, m});
    result.back().end = m + 1;
  }
  return result;
}

/// Number of shards of each unit: at least one, at most its machines; the next always to the unit
/// with the largest weight per shard (D'Hondt), ties to the first.
std::vector<std::size_t> apportion(const Cluster& cluster, std::span<const Range> units,
                                   std::size_t shards) {
  std::vector<std::size_t> seats(units.size(), 1);
  std::vector<std::int64_t> weight;
  for (const Range& unit : units) weight.push_back(weight_of(cluster, unit));
  for (std::size_t given = units.size(); given < shards; ++given) {
    std::size_t best = units.size();
    for (std::size_t u = 0; u < units.size(); ++u) {
      if (seats[u] == units[u].size()) continue;
      const auto per = [&](std::size_t i) {
        return static_cast<double>(weight[i]) / static_cast<double>(seats[i] + 1);
      };
      if (best == units.size() || per(u) > per(best)) best = u;
    }
    BERTH_ASSERT(best < units.size());
    ++seats[best];
  }
  return seats;
}

/// Cuts consecutive units into `pieces` ranges of nearly equal weight, none empty.
std::vector<Range> cut(const Cluster& cluster, std::span<const Range> units, std::size_t pieces) {
  std::int64_t left = 0;
  for (const Range& unit : units) left += weight_of(cluster, unit);
  std::vector<Range> result;
  std::size_t u = 0;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t target = left / static_cast<std::int64_t>(pieces - piece);
    const std::size_t keep = pieces - piece - 1;  // units that the later pieces need
    Range range = units[u];
    std::int64_t weight = weight_of(cluster, units[u++]);
    while (u + keep < units.size()) {
      const std::int64_t next = weight_of(cluster, units[u]);
      if (keep > 0 && weight + next / 2 > target) break;
      weight += next;
      range.end = units[u++].end;
    }
    left -= weight;
    result.push_back(range);
  }
  return result;
}

std::vector<Range> split_pod(const Cluster& cluster, Range pod, std::size_t shards) {
  const auto racks = runs(pod, [&](std::size_t m) { return cluster.machine_rack[m]; });
  if (shards <= racks.size()) return cut(cluster, racks, shards);
  std::vector<Range> result;
  const auto seats = apportion(cluster, racks, shards);
  for (std::size_t r = 0; r < racks.size(); ++r) {
    const auto machines = runs(racks[r], [](std::size_t m) { return m; });
    for (const Range& piece : cut(cluster, machines, seats[r])) result.push_back(piece);
  }
  return result;
}

/// Capacity by machine class: of a pod, or of the pods dealt to a shard so far.
using Content = std::vector<double>;

Content content_of(const Cluster& cluster, Range range) {
  Content content(cluster.classes.size(), 0.0);
  for (std::size_t m = range.begin; m < range.end; ++m) {
    content[cluster.machine_class[m].index()] += static_cast<double>(weight_of(cluster, m));
  }
  return content;
}

/// Fraction of the classes of `pod` that `load` holds already, each class relative to `total`.
double overlap(const Content& pod, const Content& load, const Content& total) {
  double sum = 1e-3 * std::accumulate(load.begin(), load.end(), 0.0);
  for (std::size_t c = 0; c < total.size(); ++c) {
    if (total[c] > 0) sum += pod[c] * load[c] / total[c];
  }
  return sum;
}

/// Deals whole pods to shards; returns the shard of each.
std::vector<std::size_t> deal_pods(const Cluster& cluster, std::span<const Range> pods,
                                   std::size_t shards) {
  const Content total = content_of(cluster, {0, cluster.machines()});
  std::vector<std::size_t> order(pods.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t p) { return weight_of(cluster, pods[p]); });
  std::vector<Content> load(shards, Content(total.size(), 0.0));
  std::vector<std::size_t> count(shards, 0);
  std::vector<std::size_t> shard_of(pods.size());
  const std::size_t most = (pods.size() + shards - 1) / shards;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Content pod = content_of(cluster, pods[order[i]]);
    const auto empty = static_cast<std::size_t>(std::ranges::count(count, std::size_t{0}));
    const bool only_empty = empty == order.size() - i;  // each empty shard needs one of the rest
    std::size_t best = shards;
    for (std::size_t s = 0; s < shards; ++s) {
      if (count[s] == most || (only_empty && count[s] > 0)) continue;
      if (best == shards || overlap(pod, load[s], total) < overlap(pod, load[best], total))
        best = s;
    }
    BERTH_ASSERT(best < shards);
    shard_of[order[i]] = best;
    ++count[best];
    std::ranges::transform(load[best], pod, load[best].begin(), std::plus{});
  }
  return shard_of;
}

void give(Shards& shards, std::size_t shard, Range range) {
  for (std::size_t m = range.begin; m < range.end; ++m) {
    shards.machines[shard].push_back(MachineId(m));
    shards.of_machine[m] = ShardId(shard);
  }
}

}  // namespace

std::int32_t default_shards(const Cluster& cluster) {
  const std::int64_t by_size = cluster.gpus() / 4096;
  const auto pods = static_cast<std::int64_t>(cluster.pods.size());
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, std::min(by_size, pods)));
}

Shards split(const Cluster& cluster, const PartitionOptions& options) {
  BERTH_EXPECT(options.shards >= 0);
  const std::int32_t wanted = options.shards > 0 ? options.shards : default_shards(cluster);
  const Range all{0, cluster.machines()};
  const auto count =
      std::min(static_cast<std::size_t>(wanted), std::max<std::size_t>(1, all.size()));
  Shards shards;
  shards.machines.resize(count);
  shards.of_machine.resize(cluster.machines());
  if (cluster.machines() == 0) return shards;
  const auto pods = runs(all, [&](std::size_t m) { return cluster.pod_of(MachineId(m)); });
  if (count <= pods.size()) {
    const auto shard_of = deal_pods(cluster, pods, count);
    for (std::size_t p = 0; p < pods.size(); ++p) give(shards, shard_of[p], pods[p]);
    return shards;
  }
  std::size_t next = 0;
  const auto seats = apportion(cluster, pods, count);
  for (std::size_t p = 0; p < pods.size(); ++p) {
    for (const Range& piece : split_pod(cluster, pods[p], seats[p])) give(shards, next++, piece);
  }
  return shards;
}

std::vector<ShardId> Ownership::of_rank(int rank) const {
  std::vector<ShardId> mine;
  for (std::size_t s = 0; s < owner.size(); ++s) {
    if (owner[s] == rank) mine.push_back(ShardId(s));
  }
  return mine;
}

Ownership own(const Cluster& cluster, const Shards& shards, int ranks) {
  BERTH_EXPECT(ranks > 0);
  std::vector<std::int64_t> work(shards.size(), 0);
  for (std::size_t s = 0; s < shards.size(); ++s) {
    for (const MachineId m : shards.machines[s]) work[s] += weight_of(cluster, m.index());
  }
  return {.owner = strads::dispatch(work, ranks)};
}

}  // namespace berth::partition
