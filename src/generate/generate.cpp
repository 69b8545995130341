// SPDX-License-Identifier: Apache-2.0
#include "berth/generate/generate.hpp"

#include "hetero_cluster.hpp"
#include "hetero_jobs.hpp"
#include "presets.hpp"

#include "berth/base/error.hpp"
#include "berth/base/random.hpp"

namespace berth::generate {
namespace {

constexpr std::int64_t kMost = 16'777'216;  ///< GPUs: 2^24
/// Mbit/s per GPU: 1 Pbit/s; a guard against typing errors
constexpr std::int64_t kMostMbps = 1'000'000'000;

void validate(Preset preset, const GenerateOptions& options) {
  const auto refuse = [](const char* field, const char* problem) {
    throw InputError({.file = "", .line = 0, .field = field}, problem);
  };
  if (options.gpus < 1 || options.gpus > kMost) refuse("gpus", "must be 1 .. 16777216");
  if (options.jobs < -1 || options.jobs > kMost) refuse("jobs", "must be 0 .. 16777216");
  if (!(options.load > 0.0 && options.load <= 1000.0))
    refuse("load", "must be above 0, at most 1000");
  if (!(options.cpu_machines >= 0.0 && options.cpu_machines <= 1.0)) {
    refuse("cpu_machines", "must be 0 .. 1");
  }
  const bool whole_gangs = preset == Preset::philly_like || preset == Preset::llm_like;
  if (whole_gangs && options.cpu_machines > 0.0) {
    refuse("cpu_machines", "this preset has jobs on GPUs only");
  }
  if (options.nic_mbps < 0 || options.nic_mbps > kMostMbps) {
    refuse("nic_mbps", "must be 0 .. 1000000000");
  }
  if (options.gpu_slices < 0 || options.gpu_slices > model::kMaxGpuSlices) {
    refuse("gpu_slices", "must be 0 .. 31");
  }
}

/// Adds the NICs and GPU slices of `options` to the preset's machines and tasks.
model::Instance with_limits(model::Instance instance, const GenerateOptions& options) {
  constexpr std::uint64_t kStage = 0x4E4943;  // key of the draws: "NIC" in ASCII
  for (model::MachineClass& c : instance.cluster.classes) {
    if (c.gpus == 0) continue;
    c.gpu_slices = options.gpu_slices;
    if (options.nic_mbps > 0) c.capacity[model::kNic] = options.nic_mbps * c.gpus;
  }
  std::uint64_t shape = 0;
  for (model::Shape& s : instance.workload.shapes) {
    const auto half = static_cast<std::int64_t>(random_below(4, {options.seed, kStage, shape++}));
    s.needs[model::kNic] = options.nic_mbps * half * s.total_milli() / 2000;
  }
  return instance;
}

model::Instance of_preset(Preset preset, const GenerateOptions& options) {
  switch (preset) {
    case Preset::openb_like:
      return openb_like(options);
    case Preset::philly_like:
      return philly_like(options);
    case Preset::llm_like:
      return llm_like(options);
    default:
      break;
  }
  model::Instance instance;
  instance.cluster = hetero_cluster(options);
  instance.workload = hetero_jobs(options, instance.cluster);
  return instance;
}

}  // namespace

model::Instance generate(Preset preset, const GenerateOptions& options) {
  validate(preset, options);
  return with_limits(of_preset(preset, options), options);
}

}  // namespace berth::generate
