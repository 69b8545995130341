// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/generate.hpp"

#include "hetero_cluster.hpp"
#include "hetero_jobs.hpp"

#include "berth/base/error.hpp"

namespace berth::policy {
namespace {

constexpr std::int64_t kMost = 16'777'216;

void validate(const GenerateOptions& options) {
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
}

}  // namespace

model::Instance generate_hetero(const GenerateOptions& options) {
  validate(options);
  model::Instance instance;
  instance.cluster = hetero_cluster(options);
  instance.workload = hetero_jobs(options, instance.cluster);
  return instance;
}

}  // namespace berth::policy
