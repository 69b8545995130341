// SPDX-License-Identifier: Apache-2.0
// Imported instances that results are quoted for: their digests follow from the published tables
// and from the meaning of the options alone. The table is written anew by scripts/frozen_update.
#include "test_paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/io/import.hpp"

namespace berth::io {
namespace {

struct Case {
  std::string pods;
  std::string what;  ///< the options in words
  ImportOptions options;
};

/// Objective A asks nothing of CPU-only pods, objective B requires them.
std::vector<Case> cases() {
  std::vector<Case> result;
  for (const char* pods : {"default", "gpushare40", "gpuspec10", "cpu050", "multigpu20"}) {
    result.push_back({pods, "A", {}});
    result.push_back({pods, "B", {.require_cpu_only = ImportOptions::kAll}});
  }
  const ImportOptions prefix{.require_cpu_only = ImportOptions::kAll, .prefix_percent = 97.0};
  result.push_back({"default", "B prefix 97", prefix});
  result.push_back({"default", "A x8", {.replicate = 8}});
  return result;
}

std::string line(const std::string& name, const std::string& what,
                 const model::Instance& instance) {
  const auto& jobs = instance.workload.jobs;
  return name + '\t' + what + '\t' + std::to_string(jobs.size()) + '\t' +
         std::to_string(std::ranges::count(jobs, true, &model::Job::required)) + '\t' +
         instance_digest(instance);
}

std::vector<std::string> compute(const std::filesystem::path& traces,
                                 const std::filesystem::path& bench) {
  std::vector<std::string> lines{"# table\toptions\tjobs\trequired\tinstance digest"};
  const std::string machines = traces / "openb/openb_node_list_gpu_node.csv";
  for (const Case& c : cases()) {
    const std::string pods = bench / "openb_130" / (c.pods + "_seed42.csv.gz");
    lines.push_back(line("openb_130/" + c.pods, c.what, import_openb(machines, pods, c.options)));
  }
  for (const char* name : {"rack_placement/r4000x256", "rack_placement/r16384x1024"}) {
    lines.push_back(line(
        name, "", import_rack_placement(bench / name / "jobs.csv", bench / name / "racks.csv")));
  }
  return lines;
}

TEST(Frozen, imported_instances_are_the_ones_in_the_table) {
  const auto traces = test::traces();
  const auto bench = test::bench();
  if (!traces || !bench) GTEST_SKIP() << "skipped: no BERTH_TRACES or BERTH_BENCH";
  const std::vector<std::string> now = compute(*traces, *bench);
  if (const char* const out = std::getenv("BERTH_FROZEN_OUT"); out != nullptr) {
    std::ofstream file(out);
    for (const std::string& l : now) file << l << '\n';
    GTEST_SKIP() << "skipped: wrote " << out;
  }
  std::ifstream file(test::source_root() / "tests/unit/io/frozen.tsv");
  std::vector<std::string> table;
  for (std::string l; std::getline(file, l);) table.push_back(l);
  EXPECT_EQ(now, table);
}

}  // namespace
}  // namespace berth::io
