// SPDX-License-Identifier: Apache-2.0
#include "openb_tables.hpp"

#include <string>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"
#include "berth/io/import.hpp"

namespace berth::io {
namespace {

// Guards against typing errors.
constexpr double kMaxPercent = 1e6;        ///< per cent of the cluster's GPUs
constexpr std::int64_t kMaxCopies = 1000;  ///< copies of each pod

}  // namespace

void validate(const ImportOptions& options) {
  const auto refuse = [](const char* field, const char* problem) {
    throw InputError({.file = "", .line = 0, .field = field}, problem);
  };
  if (options.require_cpu_only < 0) refuse("require-cpu-only", "must be 0 or more, or \"all\"");
  const double percent = options.prefix_percent.value_or(100.0);
  if (!(percent > 0.0 && percent <= kMaxPercent)) {
    refuse("prefix-percent", "must be above 0, at most 1000000");
  }
  if (options.replicate < 1 || options.replicate > kMaxCopies) {
    refuse("replicate", "must be 1 .. 1000");
  }
}

model::Instance import_openb(const std::string& machines_path, const std::string& pods_path,
                             const ImportOptions& options) {
  validate(options);
  model::Instance instance;
  const std::string machines = read_file(machines_path);
  instance.cluster = read_openb_machines(Csv(machines, machines_path), options);
  const std::string pods = read_file(pods_path);
  instance.workload = read_openb_pods(Csv(pods, pods_path), pods_path, options, instance.cluster);
  return instance;
}

}  // namespace berth::io
