// SPDX-License-Identifier: Apache-2.0
// SMD, Optimus and ESW in a simulation: jobs files with workers and servers, profiles and runs.
#include "smd/smd_policy.hpp"

#include "petsc_environment.hpp"
#include "tiny.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/profiles_file.hpp"
#include "berth/sim/simulate.hpp"
#include "berth/sim/world_speeds.hpp"

namespace berth::papers {
namespace {

struct Row {
  std::string value = "10";
  std::string utility = R"({"linear":[[0,1],[100000,0]]})";
  bool elastic = true;
};

/// Jobs with 1 to 4 workers of a GPU each and 1 to 4 servers, on two machines of 4 GPUs.
struct SmdWorld {
  explicit SmdWorld(const std::vector<Row>& rows) {
    const ClassId of = tiny.machine_class("m", tiny.type("X"), 4, 64'000, 64'000);
    tiny.pod();
    tiny.rack();
    for (int m = 0; m < 2; ++m) tiny.machine(of);
    std::string jobs;
    for (std::size_t j = 0; j < rows.size(); ++j) jobs += line(j, rows[j]);
    tiny.instance.workload = io::parse_jobs(jobs, "jobs.jsonl", tiny.instance.cluster);
  }

  static std::string line(std::size_t j, const Row& row) {
    std::string text = "{\"id\":\"j" + std::to_string(j) +
                       R"(","arrival":0,"duration":1000,"value":)" + row.value +
                       ",\"utility\":" + row.utility +
                       R"(,"tasks":[{"shape":"worker","count":1,"gpus":1,"cpu_milli":1000},)"
                       R"({"shape":"server","count":1,"cpu_milli":2000}])";
    std::string choices;
    for (int w = 1; w <= 4; ++w) {
      for (int p = 1; p <= 4; ++p) {
        choices += (choices.empty() ? "" : ",") + std::string(R"({"counts":{"worker":)") +
                   std::to_string(w) + ",\"server\":" + std::to_string(p) + "}}";
      }
    }
    if (row.elastic) text += ",\"configurations\":[" + choices + "]";
    return text + "}\n";
  }

  /// Best at 4 workers and 3 servers: 200 x 0.1 / w + 2 x 4 / 10 w / p + 0.5 w + 0.4 p.
  static std::string profile(std::size_t jobs) {
    std::string text =
        R"({"profile":"a","model":"overlap","reference":0.05,"servers":"server","batch":200,)"
        R"("forward":0.1,"backward":0,"model_gbit":4,"server_gbps":10,"worker_overhead":0.5,)"
        R"("server_overhead":0.4})";
    text += "\n";
    for (std::size_t j = 0; j < jobs; ++j) {
      text += "{\"job\":\"j" + std::to_string(j) + R"(","profile":"a"})" + "\n";
    }
    return text;
  }

  sim::Run run(std::string_view policy, const std::string& profiles) {
    speed::Profiles parsed = io::parse_profiles(profiles, "p.jsonl", tiny.instance);
    const sim::WorldSpeeds speeds(tiny.instance, parsed, 0.0);
    const auto made = find_paper_policy(policy)->make({tiny.instance, parsed, 1});
    const sim::Trace trace = sim::make_trace(tiny.instance, {}, &speeds);
    const sim::World of{.speeds = &speeds};
    return sim::simulate(tiny.instance.cluster, trace, *made, {}, of);
  }

  test::Tiny tiny;
};

double seconds(const sim::Run& run, std::size_t job) {
  return static_cast<double>(run.records[job].end()) / sim::kSecond;
}

/// Seconds of a run of 50 iterations.
double run_of(int w, int p) { return 50.0 * (20.0 / w + 0.8 * w / p + 0.5 * w + 0.4 * p); }

TEST(SmdPolicy, crews_are_those_of_the_rules) {
  const auto alone = [](std::string_view policy) {
    return seconds(SmdWorld(std::vector<Row>(1)).run(policy, SmdWorld::profile(1)), 0);
  };
  EXPECT_NEAR(alone("smd"), run_of(4, 3), 1.0);
  EXPECT_NEAR(alone("optimus"), run_of(4, 3), 1.0);
  EXPECT_NEAR(alone("esw"), run_of(4, 4), 1.0);
}

// Every job reserves 4 of 8 GPUs: two run at a time, the dearest ones first.
TEST(SmdPolicy, admits_by_utility_within_reservations) {
  const std::vector<Row> rows = {{.value = "1"}, {.value = "5"}, {.value = "2"}, {.value = "9"}};
  for (const std::string_view policy : {"smd", "optimus", "esw"}) {
    const sim::Run run = SmdWorld(rows).run(policy, SmdWorld::profile(4));
    for (const auto& record : run.records) EXPECT_TRUE(record.finished());
    EXPECT_EQ(run.records[3].runs.front().start, 0);
    EXPECT_EQ(run.records[1].runs.front().start, 0);
    EXPECT_GT(run.records[0].runs.front().start, 0);
    EXPECT_GT(run.records[2].runs.front().start, 0);
  }
}

// The job of 9 is worth nothing by the time it ends; it runs last, but it runs.
TEST(SmdPolicy, jobs_without_utility_left_run_when_there_is_room) {
  const std::vector<Row> rows = {
      {.value = "9", .utility = R"({"steps":[[0,1],[10,0]]})"}, {}, {}, {}};
  const sim::Run run = SmdWorld(rows).run("smd", SmdWorld::profile(4));
  EXPECT_TRUE(run.records[0].finished());
  EXPECT_GT(run.records[0].runs.front().start, 0);
}

TEST(SmdPolicy, a_job_without_configurations_has_one_crew) {
  const sim::Run run =
      SmdWorld(std::vector{Row{.elastic = false}}).run("smd", SmdWorld::profile(1));
  EXPECT_NEAR(seconds(run, 0), run_of(1, 1), 1.0);
}

std::string refusal(SmdWorld world, std::string_view policy, const std::string& profiles) {
  try {
    (void)world.run(policy, profiles);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SmdPolicy, jobs_without_data_are_named) {
  EXPECT_NE(refusal(SmdWorld(std::vector<Row>(2)), "smd", SmdWorld::profile(1)).find("j1"),
            std::string::npos);
  EXPECT_NE(refusal(SmdWorld(std::vector<Row>(2)), "optimus", "").find("j0"), std::string::npos);
}

TEST(SmdPolicy, factor_follows_points_and_steps) {
  const model::Utility line{false, {{0, 1.0}, {100, 0.5}, {200, 0.0}}};
  EXPECT_DOUBLE_EQ(model::factor_after(line, 0), 1.0);
  EXPECT_DOUBLE_EQ(model::factor_after(line, 50), 0.75);
  EXPECT_DOUBLE_EQ(model::factor_after(line, 150), 0.25);
  EXPECT_DOUBLE_EQ(model::factor_after(line, 900), 0.0);
  const model::Utility steps{true, {{0, 1.0}, {100, 0.5}}};
  EXPECT_DOUBLE_EQ(model::factor_after(steps, 100), 1.0);
  EXPECT_DOUBLE_EQ(model::factor_after(steps, 101), 0.5);
  EXPECT_DOUBLE_EQ(model::factor_after({}, 5), 1.0);
}

}  // namespace
}  // namespace berth::papers
