// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "berth/base/option_range.hpp"
#include "berth/base/random.hpp"
#include "berth/papers/gadget/ring_relaxation.hpp"

namespace berth::papers::gadget {
namespace {

constexpr std::uint64_t kStage = 0x6AD7, kExchange = 0x6AD8;

/// A random exchange of servers with equal GPUs.
std::vector<std::size_t> exchange(const RingCluster& cluster, std::uint64_t seed,
                                  std::uint64_t image) {
  std::vector<std::size_t> to(cluster.servers());
  std::iota(to.begin(), to.end(), std::size_t{0});
  for (std::size_t s = to.size(); s-- > 1;) {
    const std::size_t other = random_below(s + 1, {kExchange, seed, image, s});
    if (cluster.gpus[s] == cluster.gpus[other]) std::swap(to[s], to[other]);
  }
  return to;
}

}  // namespace

std::vector<std::int32_t> select_sizes(std::size_t jobs, const RingRelaxation& relaxation) {
  std::map<std::pair<std::size_t, std::int32_t>, double> worth;
  for (std::size_t c = 0; c < relaxation.columns.size(); ++c) {
    const RingColumn& column = relaxation.columns[c];
    worth[{column.job, workers_of(column.ring)}] += column.gain * relaxation.x[c];
  }
  std::vector<std::int32_t> sizes(jobs, 0);
  std::vector<double> best(jobs, 0.0);
  for (const auto& [key, value] : worth) {
    if (value <= best[key.first]) continue;
    best[key.first] = value;
    sizes[key.first] = key.second;
  }
  return sizes;
}

RingRelaxation spread(const RingCluster& cluster, const RingRelaxation& relaxation,
                      std::uint64_t seed, std::size_t images) {
  RingRelaxation result{
      .columns = {}, .x = {}, .value = relaxation.value, .bound = relaxation.bound};
  for (std::size_t image = 0; image < images; ++image) {
    const std::vector<std::size_t> to = exchange(cluster, seed, image);
    for (std::size_t c = 0; c < relaxation.columns.size(); ++c) {
      if (relaxation.x[c] <= 0.0) continue;
      result.columns.push_back(relaxation.columns[c]);
      for (ServerShare& share : result.columns.back().ring) share.server = to[share.server];
      result.x.push_back(relaxation.x[c] / static_cast<double>(images));
    }
  }
  return result;
}

std::vector<Ring> draw_rings(std::size_t jobs, const RingRelaxation& relaxation, std::uint64_t seed,
                             std::uint64_t draw) {
  std::vector<Ring> rings(jobs);
  std::vector<double> left;
  for (std::size_t j = 0; j < jobs; ++j) left.push_back(random_unit({kStage, seed, draw, j}));
  for (std::size_t c = 0; c < relaxation.columns.size(); ++c) {
    double& unit = left[relaxation.columns[c].job];
    if (unit >= 0.0 && unit < relaxation.x[c])
      rings[relaxation.columns[c].job] = relaxation.columns[c].ring;
    unit -= relaxation.x[c];
  }
  return rings;
}

std::vector<Ring> round_rings(const RingCluster& cluster, std::span<const SlotJob> jobs,
                              const RingRelaxation& relaxation, std::uint64_t seed,
                              std::uint64_t draws) {
  expect_option("gadget: draws", static_cast<double>(draws), at_least(1.0));
  std::vector<Ring> best(jobs.size());
  double most = 0.0;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    std::vector<Ring> rings = draw_rings(jobs.size(), relaxation, seed, draw);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t j = 0; j < jobs.size(); ++j)
      order.emplace_back(-jobs[j].gain(workers_of(rings[j])), j);
    std::ranges::sort(order);
    RingNetwork network(cluster);
    for (const auto& [gain, j] : order) {
      if (!network.fits(rings[j], jobs[j].job->bandwidth)) rings[j].clear();
      network.take(rings[j], jobs[j].job->bandwidth);
    }
    if (const double sum = slot_gain(jobs, rings); sum > most) {
      most = sum;
      best = std::move(rings);
    }
  }
  return best;
}

}  // namespace berth::papers::gadget
