// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_mix.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/model/workload.hpp"

/// Tables from which the generators draw. They define the preset hetero: changing a number changes
/// frozen instances. Frequencies follow published traces as berth/generate/generate.hpp states;
/// speeds, tiers and factors are chosen, not measured.
namespace berth::generate {

/// Throughput by GPU type relative to an A100; one row per kind of model trained. Chosen.
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

inline double speed_of(const Profile& profile, std::string_view gpu_type) {
  return gpu_type == "H100"   ? profile.h100
         : gpu_type == "A100" ? profile.a100
         : gpu_type == "L40S" ? profile.l40s
                              : profile.v100;
}

/// GPU thousandths; the mean of all shares of one GPU
inline constexpr std::int64_t kShareClass = 540;
/// Counts as in Philly and openb (one GPU or less is most frequent), GPU time as in Kalos (large
/// gangs use most).
inline constexpr std::array<SizeShare, 17> kHeteroMix{{
    {0, 0.08},
    {kShareClass, 0.17},
    {1'000, 0.36},
    {2'000, 0.11},
    {3'000, 0.01},
    {4'000, 0.09},
    {6'000, 0.01},
    {8'000, 0.085},
    {12'000, 0.01},
    {16'000, 0.035},
    {24'000, 0.005},
    {32'000, 0.018},
    {48'000, 0.003},
    {64'000, 0.009},
    {128'000, 0.0035},
    {256'000, 0.0012},
    {512'000, 0.0003},
}};

/// CPU cores and memory for each GPU; tasks of many GPUs draw from the first, modest rows only.
/// Chosen.
struct Appetite {
  std::int64_t cores, memory_gib;
  double up_to;  ///< cumulative share
};
inline constexpr std::array<Appetite, 6> kAppetites{
    {{4, 32, 0.35}, {6, 48, 0.55}, {8, 48, 0.75}, {8, 64, 0.88}, {12, 96, 0.96}, {16, 64, 1.0}}};
/// GPU thousandths of jobs that request a share, drawn evenly. Chosen.
inline constexpr std::array<std::int32_t, 12> kShares{100, 200, 250, 300, 400, 500,
                                                      500, 500, 600, 700, 800, 900};
/// Weight factor by priority 0, 1, 2. Chosen.
inline constexpr std::array<double, 3> kTiers{1.0, 2.0, 4.0};
/// exp(0.4 z) at sixteen quantiles of the normal distribution: a table needs no libm, so weights
/// are equal bits on every machine. The exponent is chosen.
inline constexpr std::array<double, 16> kLogNormal{0.47, 0.59, 0.67, 0.73, 0.79, 0.85, 0.91, 0.97,
                                                   1.03, 1.10, 1.17, 1.26, 1.36, 1.50, 1.69, 2.11};
/// Value factors by width, from machine to cluster, drawn evenly. Chosen.
inline constexpr std::array<model::Factors, 4> kSpread{
    {{1, 1, 0.95, 0.85}, {1, 1, 0.9, 0.75}, {1, 1, 0.85, 0.65}, {1, 1, 0.75, 0.55}}};
/// Value factors by distance from a home rack, and from a home pod. Chosen.
inline constexpr std::array<model::Factors, 3> kHomeRack{
    {{1, 1, 0.95, 0.85}, {1, 1, 0.92, 0.8}, {1, 1, 0.9, 0.75}}};
inline constexpr std::array<model::Factors, 3> kHomePod{
    {{1, 1, 1, 0.85}, {1, 1, 1, 0.8}, {1, 1, 1, 0.75}}};

}  // namespace berth::generate
