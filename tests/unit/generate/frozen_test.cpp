// SPDX-License-Identifier: Apache-2.0
// Instances that results are quoted for stay what they are, on every machine. The table is written
// anew by scripts/frozen_update, in a commit of its own.
#include "test_paths.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/generate/generate.hpp"

namespace berth::generate {
namespace {

struct Named {
  const char* name;
  Preset preset;
};
constexpr std::array<Named, 4> kPresets{{{"hetero", Preset::hetero},
                                         {"openb-like", Preset::openb_like},
                                         {"philly-like", Preset::philly_like},
                                         {"llm-like", Preset::llm_like}}};

struct Case {
  Named preset;
  std::int64_t gpus;
  std::string load;
  std::uint64_t seed;

  [[nodiscard]] std::string line() const {
    const auto instance = generate(
        preset.preset, {.gpus = gpus, .seed = seed, .load = std::strtod(load.c_str(), nullptr)});
    return std::string(preset.name) + '\t' + std::to_string(gpus) + '\t' + load + '\t' +
           std::to_string(seed) + '\t' + std::to_string(instance.workload.jobs.size()) + '\t' +
           model::instance_digest(instance);
  }
};

/// 1k to 65k GPUs, three loads, three seeds.
std::vector<Case> cases() {
  std::vector<Case> result;
  for (const Named& preset : kPresets) {
    for (const std::int64_t gpus : {1'024, 4'096, 16'384, 65'536}) {
      for (const char* load : {"0.9", "1.1", "1.5"}) {
        for (const std::uint64_t seed : {1, 2, 3}) {
          result.push_back({preset, gpus, load, seed});
        }
      }
    }
  }
  return result;
}

std::vector<std::string> compute() {
  std::vector<std::string> lines{"# preset\tgpus\tload\tseed\tjobs\tinstance digest"};
  for (const Case& c : cases()) lines.push_back(c.line());
  return lines;
}

TEST(Frozen, generated_instances_are_the_ones_in_the_table) {
  const std::vector<std::string> now = compute();
  if (const char* const out = std::getenv("BERTH_FROZEN_OUT"); out != nullptr) {
    std::ofstream file(out);
    for (const std::string& line : now) file << line << '\n';
    GTEST_SKIP() << "skipped: wrote " << out;
  }
  std::ifstream file(test::source_root() / "tests/unit/generate/frozen.tsv");
  std::vector<std::string> table;
  for (std::string line; std::getline(file, line);) table.push_back(line);
  EXPECT_EQ(now, table);
}

}  // namespace
}  // namespace berth::generate
