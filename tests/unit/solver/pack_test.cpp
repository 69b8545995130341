// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/pack.hpp"

#include "petsc_environment.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::solver {
namespace {

using model::Instance;
using planner_model::Room;
using planner_model::Valuation;

struct Request {
  std::int64_t cpu = 1;
  std::int64_t memory = 1;
  std::int32_t gpus = 0;
  std::int32_t milli = 0;
  double weight = 1.0;
  bool required = false;
  std::uint64_t types = ~std::uint64_t{0};
};

class Builder {
 public:
  Builder() {
    in_.cluster.gpu_types = {"A", "B"};
    in_.cluster.pods.push_back({.name = "p"});
    in_.cluster.racks.push_back({.name = "r", .pod = PodId(0)});
    in_.workload.labels = {"task"};
  }
  Builder& machines(int count, int gpus, std::int64_t cpu, std::int64_t memory, int type = 0) {
    const ClassId c(in_.cluster.classes.size());
    in_.cluster.classes.push_back({.name = "c",
                                   .gpu_type = gpus > 0 ? GpuTypeId(type) : GpuTypeId{},
                                   .gpus = gpus,
                                   .capacity = model::machine_capacity({cpu, memory})});
    for (int i = 0; i < count; ++i) {
      in_.cluster.machine_names.add("m");
      in_.cluster.machine_class.push_back(c);
      in_.cluster.machine_rack.push_back(RackId(0));
    }
    return *this;
  }
  Builder& jobs(int count, const Request& r) {
    const model::Shape shape{{r.cpu, r.memory}, r.gpus, r.milli};
    auto at = std::ranges::find(in_.workload.shapes, shape);
    if (at == in_.workload.shapes.end()) at = in_.workload.shapes.insert(at, shape);
    const ShapeId id(static_cast<std::size_t>(at - in_.workload.shapes.begin()));
    for (int i = 0; i < count; ++i) {
      model::Job job;
      job.first_group = static_cast<std::uint32_t>(in_.workload.groups.size());
      job.groups = 1;
      job.gpu_types = r.types;
      job.weight = r.weight;
      job.required = r.required;
      in_.workload.groups.push_back({.shape = id, .count = 1, .label = 0});
      in_.workload.jobs.push_back(job);
      in_.workload.job_names.add("j");
    }
    return *this;
  }
  Builder& last_class(std::int32_t slices) {
    in_.cluster.classes.back().gpu_slices = slices;
    return *this;
  }
  Instance take() { return std::move(in_); }

 private:
  Instance in_;
};

template <class Id>
std::vector<Id> all(std::size_t count) {
  std::vector<Id> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(Id(i));
  return ids;
}

struct Packed : PackResult {
  model::Placement placed;
};

/// Packs everything into `room`; recomputes room and value from the placement alone.
Packed pack_into(const Instance& in, const Room& before, const PackOptions& options = {},
                 model::Objective objective = model::Objective::value) {
  const Valuation valuation(in, objective);
  Room replay = before;
  Occupancy occupancy(valuation, all<MachineId>(in.cluster.machines()));
  Room& room = occupancy.room();
  room = before;
  const PackResult result = pack(occupancy, all<JobId>(in.workload.jobs.size()), options);
  const Packed r{result, occupancy.placement()};
  double value = 0.0;
  JobId last;
  for (const model::JobPlacement& p : r.placed) {
    EXPECT_LT(last, p.job);
    last = p.job;
    EXPECT_EQ(p.tasks.size(), 1U);
    const model::Job& job = in.workload.job(p.job);
    const model::Shape& shape = in.workload.shape(in.workload.groups_of(job).front().shape);
    const auto& t = p.tasks.front();
    EXPECT_EQ(std::popcount(t.devices), shape.gpus + (shape.gpu_milli > 0 ? 1 : 0));
    EXPECT_EQ(t.milli,
              shape.gpus > 0
                  ? 1000
                  : model::share_taken(shape.gpu_milli, in.cluster.class_of(t.machine).gpu_slices));
    if (shape.uses_gpu()) {
      EXPECT_NE(job.gpu_types >> in.cluster.class_of(t.machine).gpu_type.index() & 1, 0U);
    }
    replay.take(t, shape);  // throws where a device, CPU or memory is over
    value += valuation.placed(p);
  }
  for (std::size_t m = 0; m < in.cluster.machines(); ++m) {
    EXPECT_EQ(replay.free_milli(MachineId(m)), room.free_milli(MachineId(m)));
    EXPECT_EQ(replay.free_cpu(MachineId(m)), room.free_cpu(MachineId(m)));
  }
  EXPECT_NEAR(value, r.value, 1e-9 * (1 + value));
  EXPECT_GE(r.bound, r.value);
  for (const TaskPrice& p : r.prices) EXPECT_GT(p.price, 0.0);
  return r;
}

Packed pack_empty(const Instance& in, const PackOptions& options = {},
                  model::Objective objective = model::Objective::value) {
  return pack_into(in, Room(in.cluster), options, objective);
}

/// 8 + 2 and 6 + 4 fill both machines, whatever the resource; a task of 9 excludes all others from
/// one.
TEST(Pack, fills_every_resource) {
  for (std::size_t r = 0; r < model::kResources; ++r) {
    Builder b;
    b.machines(2, 4, 100, 100);
    for (int j = 0; j < 5; ++j) b.jobs(1, {.gpus = 1});
    Instance in = b.take();
    in.cluster.classes.back().capacity[r] = 10;
    in.workload.shapes.clear();
    for (const std::int64_t need : {9, 8, 6, 4, 2}) {
      in.workload.groups[in.workload.shapes.size()].shape = ShapeId(in.workload.shapes.size());
      in.workload.shapes.push_back({.needs = {1, 1}, .gpus = 1});
      in.workload.shapes.back().needs[r] = need;
    }
    const Packed result = pack_empty(in);
    EXPECT_EQ(result.placed.size(), 4U) << model::kResourceTable[r].key;
    EXPECT_EQ(result.placed.front().job, JobId(1)) << model::kResourceTable[r].key;
  }
}

/// Of shares of 300 two lie on a GPU of 7 slices, with one of 142 in the last slice; three fit one
/// that is not cut.
TEST(Pack, shares_take_whole_slices) {
  for (const std::int32_t slices : {0, 7}) {
    Builder b;
    b.machines(2, 1, 100, 100).last_class(slices);
    b.jobs(9, {.gpus = 0, .milli = 300, .weight = 2.0}).jobs(9, {.milli = 142});
    const Packed r = pack_empty(b.take());
    EXPECT_EQ(r.placed.size(), 6U);
    EXPECT_NEAR(r.value, slices == 0 ? 2 * 1.8 : 2 * (1.2 + 0.142), 1e-9);
  }
}

/// Rounded to whole slices a share may take what another, larger one takes.
TEST(Pack, packs_slices_beside_what_is_taken) {
  Builder b;
  b.machines(1, 2, 100, 100).last_class(4);
  b.jobs(3, {.milli = 260}).jobs(4, {.milli = 500}).jobs(4, {.milli = 100});
  const Instance in = b.take();
  Room room(in.cluster);
  room.take(MachineId(0), 0, model::Shape{.gpu_milli = 200});  // one slice of four
  const Packed r = pack_into(in, room);
  EXPECT_NEAR(r.value, 0.5 * 3 + 0.1, 1e-9);
}

TEST(Pack, answers_without_jobs_or_machines) {
  EXPECT_TRUE(pack_empty(Builder().machines(2, 4, 10, 10).take()).placed.empty());
  EXPECT_TRUE(pack_empty(Builder().jobs(3, {.gpus = 1}).take()).placed.empty());
  EXPECT_TRUE(pack_empty(Builder().take()).placed.empty());
}

TEST(Pack, leaves_out_what_fits_nowhere) {
  const auto r = pack_empty(Builder()
                                .machines(2, 4, 10, 10)
                                .jobs(1, {.gpus = 8})
                                .jobs(1, {.cpu = 11, .gpus = 1})
                                .jobs(1, {.gpus = 1, .types = 2})
                                .take());
  EXPECT_TRUE(r.placed.empty());
  EXPECT_EQ(r.bound, 0.0);
}

// Two devices; shares 0.6 x 2, 0.4 x 2 fill both, the two 0.5 do not pair with anything else.
TEST(Pack, fills_devices_with_shares) {
  const auto r = pack_empty(Builder()
                                .machines(1, 2, 100, 100)
                                .jobs(2, {.milli = 600})
                                .jobs(2, {.milli = 400})
                                .jobs(1, {.milli = 500})
                                .take(),
                            {.relaxation_share = 0.004});  // of the usual gap, 8e-7
  EXPECT_NEAR(r.value, 2.0, 1e-12);
  EXPECT_NEAR(r.bound, 2.0, 1e-6);
}

// CPU is short: 10 cores, tasks of 1 GPU want 6 or 4: one of each, not two of the heavier value.
TEST(Pack, weighs_cpu_beside_gpus) {
  const auto r = pack_empty(Builder()
                                .machines(3, 2, 10, 100)
                                .jobs(5, {.cpu = 6, .gpus = 1, .weight = 1.2})
                                .jobs(5, {.cpu = 4, .gpus = 1})
                                .take());
  EXPECT_NEAR(r.value, 3 * 2.2, 1e-9);
}

TEST(Pack, uses_opened_devices) {
  const Instance in =
      Builder().machines(1, 2, 10, 10).jobs(3, {.milli = 300}).jobs(1, {.gpus = 1}).take();
  Room room(in.cluster);
  room.take(MachineId(0), 0, {.needs = {1, 1}, .gpus = 0, .gpu_milli = 100});
  EXPECT_NEAR(pack_into(in, room).value, 1.9, 1e-9);
}

// The required job is worth the least and takes the only room of two better ones.
TEST(Pack, places_required_jobs_first) {
  const Instance in = Builder()
                          .machines(1, 2, 10, 10)
                          .jobs(4, {.gpus = 1, .weight = 5})
                          .jobs(1, {.gpus = 2, .weight = 0.1, .required = true})
                          .take();
  const auto r = pack_empty(in);
  ASSERT_EQ(r.placed.size(), 1U);
  EXPECT_EQ(r.placed.front().job, JobId(4));
  EXPECT_NEAR(r.bound, 0.2, 1e-4);  // of all plans that place it
}

TEST(Pack, places_required_jobs_without_gpus) {
  const Instance in = Builder()
                          .machines(2, 1, 10, 10)
                          .jobs(2, {.cpu = 6, .required = true})
                          .jobs(2, {.cpu = 5, .gpus = 1})
                          .jobs(2, {.cpu = 4, .gpus = 1, .weight = 0.5})
                          .take();
  const auto r = pack_empty(in);
  EXPECT_EQ(r.placed.size(), 4U);
  EXPECT_NEAR(r.value, 1.0, 1e-9);
}

TEST(Pack, puts_worthless_jobs_into_what_is_left) {
  const auto r = pack_empty(Builder()
                                .machines(1, 1, 10, 10)
                                .machines(1, 0, 4, 10)
                                .jobs(1, {.cpu = 2, .gpus = 1})
                                .jobs(4, {.cpu = 4})
                                .take());
  EXPECT_EQ(r.placed.size(), 1U + 2U + 1U);
}

TEST(Pack, places_zero_demand_and_zero_value_jobs) {
  const auto r = pack_empty(Builder()
                                .machines(2, 1, 10, 10)
                                .jobs(2, {.cpu = 0, .memory = 0})
                                .jobs(3, {.gpus = 1, .weight = 0})
                                .take());
  EXPECT_EQ(r.placed.size(), 4U);
  EXPECT_EQ(r.value, 0.0);
  EXPECT_EQ(r.bound, 0.0);
}

// The best jobs of a type go in.
TEST(Pack, hands_out_the_best_jobs_of_many_values) {
  Builder b;
  b.machines(5, 4, 100, 100);
  for (int i = 0; i < 100; ++i) b.jobs(1, {.gpus = 1, .weight = 1.0 + (i * 37 % 100)});
  const auto r = pack_empty(b.take(), {.job_types = 8});
  EXPECT_EQ(r.placed.size(), 20U);
  EXPECT_NEAR(r.value, 20 * 81 + 190, 1e-6);      // 81 .. 100
  EXPECT_NEAR(r.bound, r.value, 1e-3 * r.value);  // though 100 values share a few types
}

Instance random_instance(std::uint64_t seed) {
  std::uint64_t draws = 0;
  const auto below = [&](std::uint64_t bound) {
    return static_cast<int>(random_below(bound, {seed, 7, ++draws}));
  };
  Builder b;
  for (int type = 0; type < 2; ++type) {
    b.machines(1, 1 + below(2), 4 + below(6), 4 + below(6), type);
  }
  for (int j = 4 + below(4); j > 0; --j) {
    Request r{.cpu = 1 + below(4), .memory = 1 + below(4), .weight = 1.0 + below(5)};
    if (below(2) == 0)
      r.gpus = 1 + below(2);
    else
      r.milli = 100 * (2 + below(7));
    if (below(3) == 0) r.types = std::uint64_t{1} << below(2);
    b.jobs(1, r);
  }
  return b.take();
}

/// Best value of any placement of the jobs from `job` on, device by device.
double exhaustive(const Valuation& valuation, Room& room, std::size_t job) {
  const model::InstanceView& in = valuation.instance();
  if (job == in.workload.size()) return 0.0;
  const JobId id(job);
  double best = exhaustive(valuation, room, job + 1);
  const model::Job& j = in.workload.job(id);
  const model::Shape& shape = in.workload.shape(in.workload.groups_of(j).front().shape);
  for (std::size_t m = 0; m < in.cluster.machines(); ++m) {
    const GpuTypeId type = in.cluster.class_of(MachineId(m)).gpu_type;
    if (!room.fits(MachineId(m), shape) || ((j.gpu_types >> type.index()) & 1) == 0) continue;
    const std::size_t devices = room.devices(MachineId(m)).size();
    for (std::size_t d = 0; d < (shape.gpu_milli > 0 ? devices : 1); ++d) {
      if (shape.gpu_milli > 0 && room.devices(MachineId(m))[d] < shape.gpu_milli) continue;
      model::TaskPlacement task{.machine = MachineId(m),
                                .group = 0,
                                .devices = std::uint64_t{1} << d,
                                .milli = shape.gpu_milli};
      if (shape.gpu_milli > 0)
        room.take(task, shape);
      else
        task = room.take(MachineId(m), 0, shape);
      best = std::max(best, valuation.best(id, type) + exhaustive(valuation, room, job + 1));
      room.release(task, shape);
    }
  }
  return best;
}

class PackRandom : public testing::TestWithParam<int> {};

TEST_P(PackRandom, comes_close_to_trying_everything) {
  const Instance in = random_instance(static_cast<std::uint64_t>(GetParam()));
  Room room(in.cluster);
  const double best = exhaustive(Valuation(in, model::Objective::value), room, 0);
  const auto r = pack_empty(in);
  EXPECT_LE(r.value, best + 1e-9);
  EXPECT_GE(r.bound, best - 1e-9);
  EXPECT_GE(r.value, 0.9 * best);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PackRandom, testing::Range(1, 41));

/// CPUs and memory are as scarce as GPUs, and no share divides a GPU.
Instance many_kinds() {
  Builder b;
  b.machines(40, 8, 48, 120, 0).machines(30, 4, 30, 70, 1).machines(20, 2, 20, 40, 1);
  for (int i = 0; i < 60; ++i) {
    Request r{.cpu = 1 + i * 7 % 15, .memory = 1 + i * 11 % 40, .weight = 1.0 + 0.1 * (i % 7)};
    if (i % 3 == 0)
      r.gpus = 1 << (i % 4);
    else
      r.milli = 50 * (1 + i % 19) + i * 37 % 50;
    b.jobs(12, r);
  }
  return b.take();
}

TEST(Pack, does_not_depend_on_threads) {
  const Instance in = many_kinds();
  for (const std::int64_t work : {PackOptions{}.work, std::int64_t{100'000}}) {
    std::vector<std::string> digests;
    for (const int threads : {1, 2, 1}) {
      const parallel::ThreadLimit limit(threads);
      const auto packed = pack_empty(in, {.work = work});
      digests.push_back(model::plan_digest(in, packed.placed));
    }
    EXPECT_EQ(digests[0], digests[1]);
    EXPECT_EQ(digests[0], digests[2]);
  }
}

/// However little may be looked at: a plan, and a bound that holds.
TEST(Pack, ends_when_its_work_is_done) {
  const Instance in = many_kinds();
  const auto whole = pack_empty(in);
  double least = whole.value;
  for (const std::int64_t work : {100'000, 10'000, 1}) {
    ASSERT_GT(whole.stats.work, work);
    const auto packed = pack_empty(in, {.work = work});
    EXPECT_LT(packed.stats.work, whole.stats.work);
    EXPECT_GE(packed.bound, whole.value);
    EXPECT_GT(packed.value, 0.5 * whole.value);
    least = std::min(least, packed.value);
  }
  EXPECT_LT(least, whole.value);
}

}  // namespace
}  // namespace berth::solver
