// SPDX-License-Identifier: Apache-2.0
#include "horizon/machine_shards.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "berth/base/infinity.hpp"

namespace berth::solver::horizon_plan {

using berth::horizon::Gpus;
using berth::horizon::Machine;
using berth::horizon::Option;
using berth::horizon::Problem;

std::vector<std::size_t> components(const Problem& problem) {
  std::vector<std::size_t> first(problem.jobs.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  const auto root = [&](std::size_t j) {
    while (first[j] != j) j = first[j] = first[first[j]];
    return j;
  };
  for (const model::Dependency& pair : problem.dependencies) {
    const std::size_t a = root(pair.job.index()), b = root(pair.after.index());
    first[std::max(a, b)] = std::min(a, b);
  }
  for (std::size_t j = 0; j < first.size(); ++j) first[j] = root(j);
  return first;
}

double work_of(const Problem& problem, JobId job) {
  double least = kInfinity;
  for (const Option& option : problem.options_of(problem.jobs[job.index()])) {
    least = std::min(least, gpus_of(option) * static_cast<double>(option.duration));
  }
  return least < kInfinity ? std::max(1.0, least) : 1.0;
}

namespace {

/// Machines that stay together: a pod, a rack or one machine; of a problem without pods, a pool.
using Unit = std::tuple<std::int32_t, std::int32_t, std::int32_t>;

class Units {
 public:
  Units(const Problem& problem, Gpus most) : most_(most) {
    for (const Machine& machine : problem.machines) {
      in_pod_[pod(machine)] += machine.gpus;
      in_rack_[{pod(machine), machine.rack.value()}] += machine.gpus;
    }
    for (const Machine& machine : problem.machines) {
      const berth::horizon::PlaceLimitIds& l = machine.limits;
      if (std::max({l.pod_power, l.pod_uplink, l.spare}) >= 0) whole_pods_ = true;
      if (std::max(l.rack_power, l.rack_uplink) >= 0) whole_racks_ = true;
    }
  }

  [[nodiscard]] Unit of(const Machine& machine, std::size_t m) const {
    const std::int32_t p = pod(machine);
    if (whole_pods_ || in_pod_.at(p) <= most_) return {p, -1, -1};
    const std::int32_t r = machine.rack.value();
    if (whole_racks_ || in_rack_.at({p, r}) <= most_) return {p, r, -1};
    return {p, r, static_cast<std::int32_t>(m)};
  }

 private:
  [[nodiscard]] static std::int32_t pod(const Machine& machine) {
    return machine.pod.valid() ? machine.pod.value() : -1 - machine.pool.value();
  }

  Gpus most_;
  std::map<std::int32_t, Gpus> in_pod_;
  std::map<std::pair<std::int32_t, std::int32_t>, Gpus> in_rack_;
  bool whole_pods_ = false, whole_racks_ = false;
};

}  // namespace

std::vector<ShardId> shards_of_machines(const Problem& problem, std::size_t shards) {
  Gpus total = 0;
  for (const Machine& machine : problem.machines) total += machine.gpus;
  const auto count = static_cast<Gpus>(shards);
  const Units units(problem, 2 * total / count);
  std::map<Unit, Gpus> gpus;
  for (std::size_t m = 0; m < problem.machines.size(); ++m) {
    gpus[units.of(problem.machines[m], m)] += problem.machines[m].gpus;
  }
  std::map<Unit, ShardId> shard_of;
  std::vector<bool> used(shards, false);
  Gpus before = 0;
  for (const auto& [unit, of_unit] : gpus) {
    const Gpus middle = 2 * before + of_unit;  // twice
    const Gpus shard = total == 0 ? 0 : std::min(count - 1, middle * count / (2 * total));
    shard_of[unit] = ShardId(static_cast<std::size_t>(shard));
    used[static_cast<std::size_t>(shard)] = true;
    before += of_unit;
  }
  std::vector<std::int32_t> number(shards, 0);
  for (std::size_t s = 1; s < shards; ++s) number[s] = number[s - 1] + (used[s - 1] ? 1 : 0);
  std::vector<ShardId> result;
  for (std::size_t m = 0; m < problem.machines.size(); ++m) {
    const ShardId shard = shard_of.at(units.of(problem.machines[m], m));
    result.emplace_back(number[shard.index()]);
  }
  return result;
}

}  // namespace berth::solver::horizon_plan
