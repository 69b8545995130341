// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/metrics.hpp"

#include "tiny.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/run.hpp"
#include "berth/sim/trace.hpp"

namespace berth::test {
namespace {

constexpr sim::Micros s = sim::kSecond;

/// Fragmentation is summed in blocks of machines, at most 65,536 begins and ends in each: here one
/// machine a block. A job on each machine holds half of it every second second.
TEST(Metrics, fragmentation_of_many_runs_in_blocks_of_machines) {
  constexpr std::int64_t runs = 20'000, machines = 4;
  Tiny tiny;
  const ClassId of = tiny.machine_class("m", tiny.type("X"), 8, 0, 0);
  tiny.pod();
  tiny.rack();
  std::vector<model::JobRecord> records;
  for (std::int64_t m = 0; m < machines; ++m) {
    const MachineId machine = tiny.machine(of);
    const JobId job = tiny.job({{.count = 1, .gpus = 4}});
    model::JobRecord record{
        .job = job, .arrival = 0, .milli = 4000, .work = runs * s, .alone = runs * s};
    for (std::int64_t r = 0; r < runs; ++r) {
      record.runs.push_back(
          {.start = 2 * r * s,
           .end = (2 * r + 1) * s,
           .work = s,
           .milli = 4000,
           .ended = r + 1 < runs ? model::RunEnd::stopped : model::RunEnd::completed,
           .tasks = {{machine, 0, 0x0F, 1000}}});
    }
    if (m % 2 == 0) record.runs.pack();
    records.push_back(std::move(record));
  }
  const model::RunFigures f = sim::figures(tiny.instance, records);
  EXPECT_NEAR(f.fragmentation, static_cast<double>(runs) / (2.0 * runs - 1.0), 1e-12);
  EXPECT_EQ(f.preemptions, static_cast<double>(machines * (runs - 1)));
  const model::RunFigures judged = certify::run_figures(tiny.instance, records);
  for (const model::RunFigureRow& row : model::kRunFigureRows) {
    EXPECT_NEAR(f.*row.value, judged.*row.value, 1e-9 * (1.0 + judged.*row.value)) << row.key;
  }
}

}  // namespace
}  // namespace berth::test
