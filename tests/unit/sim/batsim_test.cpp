// SPDX-License-Identifier: Apache-2.0
// Every start of a published run of Batsim (Dutot et al. 2016) under EASY and conservative
// backfill: 801 jobs on 32 machines, decisions by requested times, the world by actual ones.
#include "one_pool.hpp"
#include "test_paths.hpp"

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/io/file.hpp"

namespace berth::test {
namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> row;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) row.push_back(cell);
  return row;
}

sim::Micros micros(const std::string& seconds) { return std::llround(std::stod(seconds) * 1e6); }

/// Jobs in the order of their numbers, as Batsim queues them, and their starts.
struct Published {
  std::vector<TraceRow> rows;
  std::vector<sim::Micros> starts;
};
Published published(const std::string& path) {
  std::istringstream text(io::read_file(path));
  Published run;
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) {
    const auto cell = cells(line);
    run.rows.push_back({micros(cell[3]), std::stoi(cell[4]), micros(cell[8]), micros(cell[5])});
    run.starts.push_back(micros(cell[7]));
  }
  return run;
}

class Batsim : public testing::TestWithParam<std::string> {};

TEST_P(Batsim, every_start_of_medium_late) {
  const auto folder = traces();
  if (!folder) GTEST_SKIP() << "skipped: no BERTH_TRACES";
  const Published expected =
      published((*folder / "batsim/medium_late" / (GetParam() + "_out_jobs.csv")).string());
  ASSERT_EQ(expected.rows.size(), 801U);
  const auto run = replay(one_pool(32, 1), trace_of(expected.rows), GetParam());
  std::size_t differ = 0;
  for (std::size_t j = 0; j < run.records.size(); ++j) {
    const sim::Micros start = run.records[j].runs.front().start;
    if (std::abs(start - expected.starts[j]) > 1) {
      ++differ;
      if (differ < 12) ADD_FAILURE() << j << ": " << start << " published " << expected.starts[j];
    }
  }
  EXPECT_EQ(differ, 0U);
}

INSTANTIATE_TEST_SUITE_P(Policies, Batsim, testing::Values("easy", "conservative"));

}  // namespace
}  // namespace berth::test
