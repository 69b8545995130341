// SPDX-License-Identifier: Apache-2.0
// Rates by placement inside a simulation, solved by hand; profiles as files have them.
#include "one_pool.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/io/profiles_file.hpp"
#include "berth/sim/world_speeds.hpp"

namespace berth::test {
namespace {

constexpr sim::Micros s = sim::kSecond;

/// Jobs of so many single-GPU tasks and 100 s each, on machines of 2 GPUs in racks of one machine.
struct RatesInstance {
  explicit RatesInstance(const std::vector<int>& gpus) {
    const ClassId of = tiny.machine_class("m", tiny.type("X"), 2, 0, 0);
    tiny.pod();
    for (int m = 0; m < 3; ++m) {
      tiny.rack();
      tiny.machine(of);
    }
    for (const int count : gpus) tiny.job({{.count = count, .gpus = 1}});
    for (auto& rules : tiny.instance.workload.time_rules) rules.duration = 100;
  }
  sim::Run run(const std::string& profiles, double interference = 0.0) {
    speed::Profiles parsed = io::parse_profiles(profiles, "p.jsonl", tiny.instance);
    const sim::WorldSpeeds speeds(tiny.instance, parsed, interference);
    const sim::Trace trace = sim::make_trace(tiny.instance, {}, &speeds);
    const auto policy = policy::policy_row("best-fit").make({});
    const sim::World world{.speeds = &speeds};
    return sim::simulate(tiny.instance.cluster, trace, *policy, {}, world);
  }
  Tiny tiny;
};

/// The line that gives job number `job` a profile.
std::string job_line(int job, const std::string& profile) {
  return "\n{\"job\":\"j" + std::to_string(job) + "\",\"profile\":\"" + profile + "\"}\n";
}

TEST(Rates, a_job_spread_over_machines_has_the_throughput_of_its_row) {
  RatesInstance of({1, 2, 1});  // job 1 is on one machine; with job 0 and 2 on the other
  const auto run = of.run(
      R"({"profile":"t","model":"throughput","reference":10,"rows":[{"gpu_type":"X","gpus":2,"per_second":20},{"gpu_type":"X","gpus":2,"extra_machines":1,"per_second":5}]})" +
      job_line(1, "t"));
  EXPECT_EQ(run.records[1].runs[0].speed, 2.0);
  EXPECT_EQ(run.records[1].end(), 50 * s);
  EXPECT_TRUE(run.records[1].profiled);
  EXPECT_EQ(run.records[0].end(), 100 * s);
}

TEST(Rates, jobs_on_one_machine_slow_each_other_until_one_ends) {
  RatesInstance of({1, 1});
  const std::string profile =
      R"({"profile":"t","model":"throughput","reference":10,"rows":[{"gpu_type":"X","gpus":1,"per_second":20}]})" +
      job_line(0, "t");
  const auto run = of.run(profile, 0.5);
  // job 0: 2 x 0.5 until 100; job 1: 0.5 until 100, then 1 for the other half
  EXPECT_EQ(run.records[0].end(), 100 * s);
  EXPECT_EQ(run.records[1].end(), 150 * s);
  ASSERT_EQ(run.records[1].runs[0].rates.size(), 1U);
  EXPECT_EQ(run.records[1].runs[0].rates[0], (model::RateStep{100 * s, 1.0}));
}

TEST(Rates, rings_share_a_link_until_one_of_them_ends) {
  // three GPUs each: the first on machines 0 and 1, the second on 2 and 1, whose NIC they share
  RatesInstance of({3, 3});
  const std::string ring =
      R"("model":"ring","gradient_gbit":1,"backward":0.1,"batch":1,"reduce_gbps":1000000000)";
  const auto run = of.run("{\"profile\":\"a\",\"reference\":10," + ring +
                          "}\n{\"profile\":\"b\",\"reference\":20," + ring + "}\n" +
                          job_line(0, "a") + job_line(1, "b"));
  const auto seconds = [](double gbps) { return 2.0 * 2.0 / 3.0 / gbps + 0.1; };
  EXPECT_NEAR(run.records[0].runs[0].speed, 3.0 / seconds(5.0) / 10.0, 1e-6);
  EXPECT_NEAR(run.records[1].runs[0].speed, 3.0 / seconds(5.0) / 20.0, 1e-6);
  ASSERT_EQ(run.records[1].runs[0].rates.size(), 1U);
  EXPECT_EQ(run.records[1].runs[0].rates[0].time, run.records[0].end());
  EXPECT_NEAR(run.records[1].runs[0].rates[0].speed, 3.0 / seconds(10.0) / 20.0, 1e-6);
}

TEST(Rates, the_noise_scale_changes_a_rate_in_the_middle_of_a_run) {
  RatesInstance of({1});
  const auto run = of.run(
      R"({"profile":"g","model":"goodput","reference":1,"compute_fixed":1,"smallest_batch":1,"batch":2,"noise":[{"work":0,"noise_scale":0},{"work":50,"noise_scale":1000000000}]})" +
      job_line(0, "g"));
  // 2 samples a second of which half count until 50 s of work, then nearly all
  EXPECT_EQ(run.records[0].runs[0].speed, 1.0);
  ASSERT_EQ(run.records[0].runs[0].rates.size(), 1U);
  EXPECT_EQ(run.records[0].runs[0].rates[0].time, 50 * s);
  EXPECT_NEAR(static_cast<double>(run.records[0].end()) / 1e6, 75.0, 0.001);
}

TEST(Rates, iterations_of_a_coded_job_take_drawn_times) {
  RatesInstance of({4});
  const std::string profile =
      R"({"profile":"c","model":"coded","seconds":1,"tail":1})" + job_line(0, "c");
  EXPECT_THROW((void)of.run(profile), InputError);  // without k_of
  of.tiny.instance.workload.groups[0].k_of = 3;
  const auto run = of.run(profile);
  // 100 s on average, in iterations of (1/3) (1 + 1/4 + 1/3 + 1/2) s
  const double iteration = (1.0 + 1.0 / 4.0 + 1.0 / 3.0 + 1.0 / 2.0) / 3.0;
  EXPECT_NEAR(static_cast<double>(run.records[0].runs[0].rates.size()), 100.0 / iteration, 1.0);
  EXPECT_NEAR(static_cast<double>(run.records[0].end()) / 1e6, 100.0, 10.0);
  EXPECT_NE(run.records[0].end(), 100 * s);
}

TEST(Rates, without_a_reference_a_job_takes_its_duration_on_its_best_machines) {
  RatesInstance of({2});
  const auto run = of.run(
      R"({"profile":"t","model":"throughput","rows":[{"gpu_type":"X","gpus":2,"per_second":37}]})" +
      job_line(0, "t"));
  EXPECT_EQ(run.records[0].end(), 100 * s);
}

TEST(Rates, faults_of_profiles_name_line_and_field) {
  const RatesInstance of({1});
  const auto refused = [&](const std::string& text, std::int64_t line, const std::string& field) {
    try {
      (void)io::parse_profiles(text, "p.jsonl", of.tiny.instance);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.where().file, "p.jsonl");
      EXPECT_EQ(error.where().line, line) << error.what();
      EXPECT_EQ(error.where().field, field) << error.what();
    }
  };
  const std::string job = job_line(0, "t");
  const std::string head = R"({"profile":"t","model":"throughput","rows":[)";
  refused(head + R"({"gpu_type":"X","gpus":1,"per_second":0}]})", 1, "rows");
  refused(
      head +
          R"({"gpu_type":"X","gpus":1,"per_second":1},{"gpu_type":"X","gpus":1,"extra_machines":1,"per_second":2}]})",
      1, "rows");
  refused(head + R"({"gpu_type":"X","gpus":1,"per_second":-1}]})", 1, "rows[0].per_second");
  refused(R"({"profile":"t","model":"thruput"})", 1, "model");
  refused(R"({"profile":"t","model":"ring","gradients":1})", 1, "gradients");
  refused(job, 2, "profile");
  refused("{\"job\":\"nobody\",\"profile\":\"t\"}\n", 1, "job");
  // a table without the type that the job may use
  Tiny other = of.tiny;
  (void)other.type("Y");
  const std::string table = head + R"({"gpu_type":"X","gpus":1,"per_second":1}]})" + job;
  EXPECT_THROW((void)io::parse_profiles(table, "p.jsonl", other.instance), InputError);
  EXPECT_NO_THROW((void)io::parse_profiles(table, "p.jsonl", of.tiny.instance));
}

}  // namespace
}  // namespace berth::test
