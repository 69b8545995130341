// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/generate.hpp"

#include "hetero_cluster.hpp"
#include "hetero_jobs.hpp"
#include "presets.hpp"

#include "berth/base/error.hpp"

namespace berth::policy {
namespace {

constexpr std::int64_t kMost = 16'777'216;

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
}

}  // namespace

model::Instance generate(Preset preset, const GenerateOptions& options) {
  validate(preset, options);
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

}  // namespace berth::policy
