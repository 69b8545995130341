// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm_samples.hpp"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "berth/io/slurm.hpp"

namespace berth::io {

inline SlurmImport import(const Samples& samples, SlurmImportOptions options = {}) {
  if (options.now == 0) options.now = 1000;
  return import_slurm(samples.sources(), options);
}

inline bool has(const std::vector<SlurmNote>& notes, const std::string& part, std::int64_t count) {
  return std::ranges::any_of(notes, [&](const SlurmNote& note) {
    return note.what.find(part) != std::string::npos && note.count == count;
  });
}

inline std::vector<std::string> names(const SlurmImport& import) {
  std::vector<std::string> all;
  const auto& w = import.instance.workload;
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    if (w.jobs[j].running < 0) all.emplace_back(w.job_names[j]);
  }
  return all;
}

/// GPU types the job may have.
inline std::vector<std::string> types(const SlurmImport& import, std::size_t job) {
  const auto& types = import.instance.cluster.gpu_types;
  std::vector<std::string> all;
  for (std::size_t t = 0; t < types.size(); ++t) {
    if ((import.instance.workload.jobs[job].gpu_types >> t & 1) != 0) all.push_back(types[t]);
  }
  return all;
}

struct Group {
  std::int32_t count;
  model::Shape shape;
  bool operator==(const Group&) const = default;
};
inline void PrintTo(const Group& g, std::ostream* out) {
  *out << g.count << " x {" << g.shape.needs[model::kCpu] << " cpu, "
       << g.shape.needs[model::kMemory] << " MiB, " << g.shape.gpus << " gpus, "
       << g.shape.gpu_milli << " milli}";
}
inline std::vector<Group> groups(const SlurmImport& import, std::size_t job) {
  const auto& w = import.instance.workload;
  std::vector<Group> all;
  for (const auto& g : w.groups_of(w.jobs.at(job))) all.push_back({g.count, w.shape(g.shape)});
  return all;
}

inline constexpr auto kMachine = static_cast<std::size_t>(model::Level::machine);
inline const model::PlacementRules& rules(const SlurmImport& import, std::size_t job) {
  const auto& w = import.instance.workload;
  return w.rules_of(w.jobs.at(job));
}

class SlurmImportTest : public testing::TestWithParam<Json> {
 protected:
  Samples s{GetParam()};
};
inline auto both_generations() { return testing::Values(Json::plain, Json::wrapped); }
inline std::string generation_name(const testing::TestParamInfo<Json>& which) {
  return which.param == Json::plain ? "plain" : "wrapped";
}

}  // namespace berth::io
