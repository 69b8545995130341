// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hetero_cluster.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/base/random.hpp"
#include "berth/model/workload.hpp"

/// What the generator draws from, and how.
namespace berth::policy {

/// Throughput by GPU type relative to an A100; one row per kind of model trained.
struct Profile {
  double h100, a100, l40s, v100;
};
inline constexpr std::array<Profile, 6> kProfiles{{
    {2.2, 1.0, 0.55, 0.35},  // language model
    {1.9, 1.0, 0.75, 0.35},  // diffusion
    {1.6, 1.0, 0.7, 0.5},    // vision
    {1.7, 1.0, 0.6, 0.45},   // speech
    {1.3, 1.0, 0.8, 0.6},    // recommendation
    {1.1, 1.0, 0.95, 0.8},   // reinforcement learning
}};

/// CPU cores and memory beside each GPU; tasks of many GPUs draw from the modest first ones only.
struct Appetite {
  std::int64_t cores, memory_gib;
  double up_to;  ///< cumulative share
};
inline constexpr std::array<Appetite, 6> kAppetites{
    {{4, 32, 0.35}, {6, 48, 0.55}, {8, 48, 0.75}, {8, 64, 0.88}, {12, 96, 0.96}, {16, 64, 1.0}}};
inline constexpr std::array<std::int32_t, 12> kShares{100, 200, 250, 300, 400, 500,
                                                      500, 500, 600, 700, 800, 900};
inline constexpr std::array<double, 3> kTiers{1.0, 2.0, 4.0};
/// exp(0.4 z) at sixteen quantiles of the normal distribution: no libm, the same everywhere.
inline constexpr std::array<double, 16> kLogNormal{0.47, 0.59, 0.67, 0.73, 0.79, 0.85, 0.91, 0.97,
                                                   1.03, 1.10, 1.17, 1.26, 1.36, 1.50, 1.69, 2.11};
inline constexpr std::array<model::Factors, 4> kSpread{
    {{1, 1, 0.95, 0.85}, {1, 1, 0.9, 0.75}, {1, 1, 0.85, 0.65}, {1, 1, 0.75, 0.55}}};
inline constexpr std::array<model::Factors, 3> kHomeRack{
    {{1, 1, 0.95, 0.85}, {1, 1, 0.92, 0.8}, {1, 1, 0.9, 0.75}}};
inline constexpr std::array<model::Factors, 3> kHomePod{
    {{1, 1, 1, 0.85}, {1, 1, 1, 0.8}, {1, 1, 1, 0.75}}};
inline constexpr std::int64_t kDay = 86'400;

/// The draws of one job, in a fixed order per question asked.
class Dice {
 public:
  Dice(std::uint64_t seed, std::size_t job) : seed_(seed), job_(job) {}
  double unit() { return random_unit({seed_, kStage, job_, turn_++}); }
  bool chance(double probability) { return unit() < probability; }
  std::size_t below(std::size_t bound) {
    return random_below(bound, {seed_, kStage, job_, turn_++});
  }
  template <class Table>
  const auto& pick(const Table& table) {
    return table[below(table.size())];
  }

 private:
  static constexpr auto kStage = static_cast<std::uint64_t>(Draw::job);
  std::uint64_t seed_;
  std::size_t job_;
  std::uint64_t turn_ = 0;
};

}  // namespace berth::policy
