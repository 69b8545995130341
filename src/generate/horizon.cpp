// SPDX-License-Identifier: Apache-2.0
#include "berth/generate/horizon.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/base/random.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::generate {
namespace horizon_preset {
namespace {

using horizon::CostPiece;
using horizon::CurveId;
using horizon::Gpus;
using horizon::ProblemBuilder;
using horizon::Seconds;
using horizon::TaskGroup;

constexpr std::int32_t kMachineGpus = 8;
constexpr Seconds kHour = 3600;
constexpr Seconds kLongest = 7 * 24 * kHour;  ///< durations are cut here

/// Stages of the draws: second part of every key.
enum class HorizonDraw : std::uint64_t {
  size,
  duration,
  speed,
  type,
  weight,
  arrival,
  running,
  deadline
};

double unit(std::uint64_t seed, HorizonDraw draw, std::size_t index) {
  return random_unit({seed, static_cast<std::uint64_t>(draw), index});
}

/// GPUs of a job and its share of the jobs; after Helios (Hu et al., SC 2021), rounded.
struct SizeFrequency {
  Gpus gpus;
  double share;
};
constexpr std::array<SizeFrequency, 10> kHeliosSizes{{{1, 0.5},
                                                      {2, 0.12},
                                                      {4, 0.1},
                                                      {8, 0.15},
                                                      {16, 0.05},
                                                      {32, 0.04},
                                                      {64, 0.02},
                                                      {128, 0.01},
                                                      {256, 0.006},
                                                      {512, 0.004}}};

/// A queue of one group: mostly single GPUs and single machines.
constexpr std::array<SizeFrequency, 8> kQueueSizes{
    {{1, 0.5}, {2, 0.15}, {4, 0.12}, {8, 0.15}, {16, 0.04}, {32, 0.02}, {64, 0.01}, {256, 0.01}}};

TraceRow lognormal_row(std::span<const SizeFrequency> sizes, double median, double sigma,
                       std::uint64_t seed, std::size_t index) {
  double left = unit(seed, HorizonDraw::size, index);
  std::size_t size = 0;
  while (size + 1 < sizes.size() && left >= sizes[size].share) left -= sizes[size++].share;
  // Irwin-Hall: twelve uniform draws less 6 are nearly normal
  double normal = -6.0;
  for (std::uint64_t i = 0; i < 12; ++i) {
    normal += random_unit({seed, static_cast<std::uint64_t>(HorizonDraw::duration), index, i});
  }
  const double duration = median * std::exp(sigma * normal);
  return {std::clamp<Seconds>(std::llround(duration), 10, kLongest), sizes[size].gpus};
}

std::vector<TraceRow> draw_rows(HorizonPreset preset, const HorizonOptions& options,
                                std::span<const TraceRow> rows) {
  std::vector<TraceRow> jobs;
  for (std::size_t j = 0; j < options.jobs; ++j) {
    if (preset == HorizonPreset::big || preset == HorizonPreset::huge) {
      jobs.push_back(lognormal_row(kHeliosSizes, static_cast<double>(kHour), 1.8, options.seed, j));
      continue;
    }
    if (preset == HorizonPreset::queue) {
      jobs.push_back(lognormal_row(kQueueSizes, 3000.0, 1.6, options.seed, j));
      continue;
    }
    TraceRow row = rows[j % rows.size()];
    if (preset == HorizonPreset::kalos) {
      const double factor = std::exp2(2.0 * unit(options.seed, HorizonDraw::duration, j) - 1.0);
      row.duration = std::llround(static_cast<double>(row.duration) * factor);
    }
    row.duration = std::clamp<Seconds>(row.duration, 1, kLongest);
    jobs.push_back(row);
  }
  return jobs;
}

/// Pools of the fast and of the slow type.
struct TypePools {
  horizon::PoolSetId fast, slow;
  bool two_types = false;
};

class PoolsOfPreset {
 public:
  PoolsOfPreset(ProblemBuilder& builder, const HorizonOptions& options)
      : builder_(builder), options_(options) {}

  TypePools add(HorizonPreset preset) {
    switch (preset) {
      case HorizonPreset::philly:
        add_pool(0, 1848);
        add_pool(1, 642);
        break;
      case HorizonPreset::kalos:
        add_pool(0, 2416);
        break;
      case HorizonPreset::queue:
        add_pool(0, 2496);
        break;
      case HorizonPreset::big:
        for (int pod = 0; pod < 8; ++pod) add_pool(pod < 6 ? 0 : 1, 4096);
        break;
      case HorizonPreset::huge:
        for (int pod = 0; pod < 32; ++pod) add_pool(pod < 24 ? 0 : 1, 1024);
        break;
    }
    TypePools pools{.fast = builder_.add_pool_set(fast_), .slow = {}, .two_types = !slow_.empty()};
    if (pools.two_types) pools.slow = builder_.add_pool_set(slow_);
    return pools;
  }
  [[nodiscard]] Gpus gpus() const { return gpus_; }

 private:
  void add_pool(std::size_t type, std::int32_t gpus) {
    if (options_.one_type) type = 0;
    const std::int32_t machines = gpus / kMachineGpus;
    const PoolId pool = builder_.add_pool(CurveId(type), machines, kMachineGpus);
    (type == 0 ? fast_ : slow_).push_back(pool);
    if (gpus % kMachineGpus != 0) builder_.add_machines(1, gpus % kMachineGpus);
    gpus_ += gpus;
    if (options_.outages) add_outages(machines, pool.index() == 0);
    first_machine_ += static_cast<std::size_t>(machines + (gpus % kMachineGpus != 0 ? 1 : 0));
  }

  void add_outages(std::int32_t machines, bool first_pool) {
    const auto close = [&](std::size_t machine, Seconds from, Seconds to) {
      builder_.add_outage(MachineId(first_machine_ + machine), from, to);
    };
    const auto count = static_cast<std::size_t>(machines);
    for (std::size_t m = 0; m < count / 4 && first_pool; ++m) close(m, 6 * kHour, 10 * kHour);
    for (std::size_t m = 0; m < count / 8 && first_pool; ++m) {
      close(count - 1 - m, 20 * kHour, 26 * kHour);
    }
    for (std::size_t m = 0; m < count / 8; ++m) {
      const double share = unit(options_.seed, HorizonDraw::running, first_machine_ + m);
      close(count / 2 + m, 0, kHour + std::llround(23.0 * 3600.0 * share));
    }
  }

  ProblemBuilder& builder_;
  const HorizonOptions& options_;
  std::vector<PoolId> fast_, slow_;
  std::size_t first_machine_ = 0;
  Gpus gpus_ = 0;
};

/// w n (1 - 1 / (1 + exp(-(x - m) / s))) as 12 chords, for a middle m of 2 to 20 durations after
/// the release and s = m / 5; 0 from 2 m on.
std::vector<CostPiece> sigmoid_cost(Seconds release, double duration, double worth, double draw) {
  constexpr int kPoints = 12;
  const double middle = std::max(3600.0, duration) * (2.0 + 18.0 * draw * draw);
  const auto factor = [&](double x) { return 1.0 / (1.0 + std::exp(5.0 * (x / middle - 1.0))); };
  std::vector<CostPiece> pieces;
  for (int i = 0; i < kPoints; ++i) {
    const double x = 2.0 * middle * i / kPoints, next = 2.0 * middle * (i + 1) / kPoints;
    const double low = std::floor(x), high = std::floor(next);
    const double at = -worth * factor(x), after = i + 1 < kPoints ? -worth * factor(next) : 0.0;
    pieces.push_back({release + static_cast<Seconds>(low), at, (after - at) / (high - low)});
  }
  pieces.push_back({release + static_cast<Seconds>(std::floor(2.0 * middle)), 0.0, 0.0});
  return pieces;
}

class Jobs {
 public:
  Jobs(ProblemBuilder& builder, const HorizonOptions& options, TypePools pools)
      : builder_(builder), options_(options), pools_(pools) {}

  void add(std::size_t index, const TraceRow& row, Seconds release) {
    const double drawn = 4.0 * unit(options_.seed, HorizonDraw::weight, index);
    const double weight = options_.equal_weights ? 1.0 : std::exp2(std::floor(drawn));
    const bool required = options_.objective == HorizonObjective::flow;
    (void)builder_.add_job(release, required);
    const auto cost = builder_.add_cost(cost_of(index, row, release, weight));
    struct ElasticSize {
      Gpus gpus;
      double slowdown;
    };
    std::vector<ElasticSize> configurations{{row.gpus, 1.0}};
    if (options_.elastic) {
      configurations.push_back({2 * row.gpus, 0.56});
      if (row.gpus % 2 == 0) configurations.push_back({row.gpus / 2, 1.85});
      if (row.gpus % 4 == 0) configurations.push_back({row.gpus / 4, 3.5});
    }
    const double slow = 1.2 + 1.3 * unit(options_.seed, HorizonDraw::speed, index);
    const bool anywhere = unit(options_.seed, HorizonDraw::type, index) >= 0.3;
    for (const ElasticSize& c : configurations) {
      add_option(pools_.fast, row, c.gpus, c.slowdown, cost);
      if (pools_.two_types && anywhere) {
        add_option(pools_.slow, row, c.gpus, c.slowdown * slow, cost);
      }
    }
  }

 private:
  void add_option(horizon::PoolSetId pools, const TraceRow& row, Gpus gpus, double slowdown,
                  horizon::IndexRange cost) {
    const auto duration =
        static_cast<Seconds>(std::ceil(static_cast<double>(row.duration) * slowdown));
    std::vector<TaskGroup> groups;
    if (gpus >= kMachineGpus) {
      groups.push_back({static_cast<std::int32_t>(gpus / kMachineGpus), kMachineGpus});
    }
    if (gpus % kMachineGpus != 0) {
      groups.push_back({1, static_cast<std::int32_t>(gpus % kMachineGpus)});
    }
    builder_.add_option(pools, std::max<Seconds>(1, duration), groups, cost);
  }

  [[nodiscard]] std::vector<CostPiece> cost_of(std::size_t index, const TraceRow& row,
                                               Seconds release, double weight) const {
    const double worth = weight * static_cast<double>(row.gpus);
    switch (options_.objective) {
      case HorizonObjective::sigmoid:
        return sigmoid_cost(release, static_cast<double>(row.duration), worth,
                            unit(options_.seed, HorizonDraw::deadline, index));
      case HorizonObjective::value_in_hours:
        return {{release, -worth, 0.0}, {std::max(release, options_.horizon), 0.0, 0.0}};
      case HorizonObjective::flow:
        break;
    }
    return {horizon::flow_cost(release, weight)};
  }

  ProblemBuilder& builder_;
  const HorizonOptions& options_;
  TypePools pools_;
};

}  // namespace

horizon::Problem build(HorizonPreset preset, const HorizonOptions& options,
                       std::span<const TraceRow> rows) {
  const bool from_rows = preset == HorizonPreset::philly || preset == HorizonPreset::kalos;
  BERTH_EXPECT(!from_rows || !rows.empty());
  ProblemBuilder builder;
  PoolsOfPreset cluster(builder, options);
  Jobs jobs(builder, options, cluster.add(preset));
  const std::vector<TraceRow> drawn = draw_rows(preset, options, rows);
  double work = 0.0;
  for (const TraceRow& row : drawn) {
    work += static_cast<double>(row.duration) * static_cast<double>(row.gpus);
  }
  const double arrivals =
      options.load > 0.0 ? work / options.load / static_cast<double>(cluster.gpus()) : 0.0;
  for (std::size_t j = 0; j < drawn.size(); ++j) {
    jobs.add(j, drawn[j], std::llround(arrivals * unit(options.seed, HorizonDraw::arrival, j)));
  }
  return builder.build();
}

}  // namespace horizon_preset

horizon::Problem generate_horizon(HorizonPreset preset, const HorizonOptions& options,
                                  std::span<const TraceRow> rows) {
  return horizon_preset::build(preset, options, rows);
}

}  // namespace berth::generate
