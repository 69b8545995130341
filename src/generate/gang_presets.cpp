// SPDX-License-Identifier: Apache-2.0
// philly-like and llm-like: one generator with two sets of parameters.
#include "gang_cluster.hpp"
#include "gang_jobs.hpp"
#include "gang_preset.hpp"
#include "hetero_tables.hpp"
#include "presets.hpp"

#include <array>

namespace berth::generate {
namespace {

/// Per thousand jobs, by GPU thousandths; sizes of the Philly trace (Jeon et al., ATC 2019),
/// rounded.
constexpr std::array<SizeShare, 14> kPhillyMix{{
    {1'000, 470},
    {2'000, 120},
    {3'000, 9},
    {4'000, 120},
    {6'000, 9},
    {8'000, 145},
    {16'000, 50},
    {24'000, 9},
    {32'000, 30},
    {64'000, 17},
    {96'000, 9},
    {128'000, 8},
    {256'000, 3},
    {512'000, 1},
}};
/// Share of pods by GPU type; chosen.
constexpr std::array<TypeShare, 3> kPhillyTypes{{{"A100", 0.4}, {"V100", 0.35}, {"H100", 0.25}}};
constexpr GangPreset kPhilly{.mix = kPhillyMix,
                             .types = kPhillyTypes,
                             .racks_per_pod = 8,
                             .two_types = 0.2,
                             .profiles = kProfiles.size(),
                             .small_workers = 0.15,
                             .home = 0.3};

/// Per thousand jobs: after Kalos, where gangs of 256 to 1,024 GPUs ask for nine GPUs in ten.
constexpr std::array<SizeShare, 11> kLlmMix{{
    {1'000, 40},
    {2'000, 250},
    {8'000, 30},
    {16'000, 30},
    {32'000, 20},
    {64'000, 140},
    {128'000, 20},
    {256'000, 300},
    {384'000, 10},
    {512'000, 150},
    {1'024'000, 10},
}};
/// Share of pods by GPU type; chosen.
constexpr std::array<TypeShare, 2> kLlmTypes{{{"H100", 0.7}, {"A100", 0.3}}};
constexpr GangPreset kLlm{.mix = kLlmMix,
                          .types = kLlmTypes,
                          .racks_per_pod = 32,
                          .profiles = 1,
                          .home = 0.2,
                          .one_pod = 0.3};

model::Instance build(const GenerateOptions& options, const GangPreset& preset) {
  model::Instance instance;
  instance.cluster = gang_cluster(options, preset);
  instance.workload = gang_jobs(options, preset, instance.cluster);
  return instance;
}

}  // namespace

model::Instance philly_like(const GenerateOptions& options) { return build(options, kPhilly); }
model::Instance llm_like(const GenerateOptions& options) { return build(options, kLlm); }

}  // namespace berth::generate
