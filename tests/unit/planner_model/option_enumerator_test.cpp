// SPDX-License-Identifier: Apache-2.0
// Two pods of two racks of two machines of 4 GPUs, half of them of type B. A gang is worth 128 less
// what width (factors 1, 1/2, 1/4, 1/8) and distance from home (1, 1, 1/4, 1/16) take off.
#include "berth/planner_model/option_enumerator.hpp"

#include "tiny.hpp"

#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "berth/planner_model/home.hpp"
#include "berth/planner_model/task_profile.hpp"

namespace berth::planner_model {
namespace {

using Row = std::tuple<model::Level, model::Level, std::int32_t,
                       double>;  ///< width, level and id of scope, value

constexpr model::Level kMachine = model::Level::machine, kRack = model::Level::rack,
                       kPod = model::Level::pod, kCluster = model::Level::cluster;

class OptionEnumeratorTest : public testing::Test {
 protected:
  OptionEnumeratorTest() {
    const GpuTypeId types[] = {tiny_.type("A"), tiny_.type("B")};
    const ClassId classes[] = {tiny_.machine_class("a", types[0], 4, 8000, 1000),
                               tiny_.machine_class("b", types[1], 4, 8000, 1000)};
    for (int p = 0; p < 2; ++p) {
      tiny_.pod();
      for (const ClassId c : classes) {
        tiny_.rack();
        tiny_.machine(c), tiny_.machine(c);
      }
    }
    near_ = tiny_.factors({1.0, 1.0, 0.25, 0.0625});
    narrow_ = tiny_.factors({1.0, 0.5, 0.25, 0.125});
  }

  JobId gang(std::int32_t tasks) {
    const JobId id = tiny_.job({{.count = tasks, .gpus = 1}});
    tiny_[id].value = 128.0;
    tiny_[id].home_factor = near_;
    tiny_[id].width_factor = narrow_;
    return id;
  }

  std::vector<Row> rows(JobId job, model::Level finest = kRack) {
    const Valuation valuation(tiny_.instance, model::Objective::value);
    const OptionEnumerator options(valuation, job, finest);
    std::vector<Row> rows;
    options.for_each_on(GpuTypeId(0), [&](const JobOption& o) {
      EXPECT_EQ(o.type, GpuTypeId(0));
      rows.emplace_back(o.width, o.scope.level, o.scope.domain, options.value(o));
    });
    return rows;
  }

  std::vector<std::int32_t> types(JobId job) {
    const Valuation valuation(tiny_.instance, model::Objective::value);
    const OptionEnumerator options(valuation, job);
    std::vector<std::int32_t> types;
    for (const GpuTypeId type : options.types()) types.push_back(type.value());
    return types;
  }

  test::Tiny tiny_;
  std::uint32_t near_ = 0, narrow_ = 0;
};

TEST_F(OptionEnumeratorTest, a_gang_without_a_home_has_one_option_a_width) {
  const std::vector<Row> all{{kCluster, kCluster, 0, 16.0},
                             {kPod, kCluster, 0, 32.0},
                             {kRack, kCluster, 0, 64.0},
                             {kMachine, kCluster, 0, 128.0}};
  const JobId job = gang(2);
  EXPECT_EQ(rows(job), all);
  tiny_[job].domain = kRack;
  EXPECT_EQ(rows(job), (std::vector<Row>{all[2], all[3]}));
}

TEST_F(OptionEnumeratorTest, a_single_task_has_one_option_a_domain_around_home) {
  const JobId job = gang(1);
  EXPECT_EQ(rows(job), (std::vector<Row>{{kMachine, kCluster, 0, 128.0}}));
  tiny_[job].home_rack = RackId(3);
  EXPECT_EQ(rows(job), (std::vector<Row>{{kMachine, kCluster, 0, 8.0},
                                         {kMachine, kPod, 1, 32.0},
                                         {kMachine, kRack, 3, 128.0}}));
}

TEST_F(OptionEnumeratorTest, no_option_is_wider_than_the_domain_around_home) {
  const JobId job = gang(2);
  tiny_[job].home_rack = RackId(3);
  EXPECT_EQ(rows(job), (std::vector<Row>{{kCluster, kCluster, 0, 1.0},
                                         {kPod, kCluster, 0, 2.0},
                                         {kRack, kCluster, 0, 4.0},
                                         {kMachine, kCluster, 0, 8.0},
                                         {kPod, kPod, 1, 8.0},
                                         {kRack, kPod, 1, 16.0},
                                         {kMachine, kPod, 1, 32.0},
                                         {kRack, kRack, 3, 64.0},
                                         {kMachine, kRack, 3, 128.0}}));
}

TEST_F(OptionEnumeratorTest, where_racks_are_alike_a_pod_counts_as_the_best_rack_in_it) {
  const JobId job = gang(2);
  tiny_[job].home_rack = RackId(3);
  EXPECT_EQ(rows(job, kPod), (std::vector<Row>{{kCluster, kCluster, 0, 1.0},
                                               {kRack, kCluster, 0, 4.0},
                                               {kMachine, kCluster, 0, 8.0},
                                               {kRack, kPod, 1, 64.0},
                                               {kMachine, kPod, 1, 128.0}}));
  tiny_[job].home_rack = {};
  tiny_[job].home_pod = PodId(1);
  EXPECT_EQ(rows(job, kPod).back(), (Row{kMachine, kPod, 1, 32.0}));
}

TEST_F(OptionEnumeratorTest, types_are_those_of_the_list_that_the_cluster_has) {
  const JobId job = gang(1);
  EXPECT_EQ(types(job), (std::vector<std::int32_t>{0, 1}));
  tiny_[job].gpu_types = 0b10;
  EXPECT_EQ(types(job), (std::vector<std::int32_t>{1}));
  tiny_[job].gpu_types = 0b100;
  EXPECT_EQ(types(job), (std::vector<std::int32_t>{}));
}

TEST_F(OptionEnumeratorTest, speed_counts_for_jobs_on_gpus_alone) {
  const JobId on_gpus = gang(1), on_cpus = tiny_.job({{.cpu_milli = 1000}});
  tiny_[on_cpus].value = 128.0;
  tiny_[on_gpus].speed = tiny_[on_cpus].speed = tiny_.speeds({1.0, 0.5});
  const Valuation valuation(tiny_.instance, model::Objective::value);
  EXPECT_EQ(OptionEnumerator(valuation, on_gpus).best(GpuTypeId(1)), 64.0);
  EXPECT_EQ(OptionEnumerator(valuation, on_cpus).best(GpuTypeId(1)), 128.0);
}

TEST_F(OptionEnumeratorTest, the_home_of_a_rack_is_its_pod) {
  const JobId id = gang(1);
  const model::Cluster& cluster = tiny_.instance.cluster;
  model::Job& job = tiny_[id];
  EXPECT_FALSE(has_home(job) || home_pod(cluster, job).valid());
  EXPECT_EQ(distance_from_home(cluster, job, RackId(0)), kMachine);
  job.home_rack = RackId(3);
  EXPECT_TRUE(has_home(job));
  EXPECT_EQ(home_pod(cluster, job), PodId(1));
  EXPECT_EQ(distance_from_home(cluster, job, RackId(3)), kRack);
  EXPECT_EQ(distance_from_home(cluster, job, RackId(2)), kPod);
  EXPECT_EQ(distance_from_home(cluster, job, RackId(1)), kCluster);
}

TEST_F(OptionEnumeratorTest, a_profile_is_what_tasks_ask_for_whatever_they_are_called_or_worth) {
  const auto profile = [&](JobId id) { return TaskProfile(tiny_.instance.workload, tiny_[id]); };
  const JobId a = tiny_.job({{.count = 2, .gpus = 1, .label = "worker"}, {.cpu_milli = 500}});
  const JobId b = tiny_.job({{.count = 2, .gpus = 1, .label = "other"}, {.cpu_milli = 500}});
  const JobId c = tiny_.job({{.count = 3, .gpus = 1}, {.cpu_milli = 500}});
  const JobId d = tiny_.job({{.count = 2, .gpus = 2}, {.cpu_milli = 500}});
  tiny_[b].value = 1.0;
  EXPECT_EQ(profile(a), profile(b));
  EXPECT_EQ(profile(a).hash(), profile(b).hash());
  EXPECT_NE(profile(a), profile(c));
  EXPECT_NE(profile(a), profile(d));
}

}  // namespace
}  // namespace berth::planner_model
