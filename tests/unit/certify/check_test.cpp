// SPDX-License-Identifier: Apache-2.0
// Two pods. pod-0 / rack-0: m0, m1 (class a: 2 GPUs of type A, 8 cores, 1000 MiB);
//           pod-0 / rack-1: m2 (class b: 2 GPUs of type B); pod-1 / rack-2: m3 (class a).
// j0: 2 workers of 1 GPU on A, in one rack.  j1: a share of 600, any type.  j2: a share of 600.
// j3: CPU-only task, required, worth 0.  j4: 4 GPUs on one machine: fits nowhere, required.
#include "berth/certify/check.hpp"

#include "faults.hpp"
#include "tiny.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"

namespace berth::certify {
namespace {

struct Case {
  test::Tiny tiny;
  model::RawPlan plan;
};

model::RawTask raw_task(const std::string& label, const std::string& machine,
                        std::vector<model::RawDevice> devices, std::int64_t cpu) {
  return {label, machine, std::move(devices), {cpu, 100}};
}

test::Tiny five_jobs() {
  test::Tiny tiny;
  const GpuTypeId a = tiny.type("A"), b = tiny.type("B");
  const ClassId ca = tiny.machine_class("a", a, 2, 8000, 1000);
  const ClassId cb = tiny.machine_class("b", b, 2, 8000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(ca), tiny.machine(ca);
  tiny.rack(), tiny.machine(cb);
  tiny.pod(), tiny.rack(), tiny.machine(ca);
  model::Job& j0 = tiny[tiny.job(
      {{.count = 2, .gpus = 1, .cpu_milli = 2000, .memory_mib = 100, .label = "worker"}})];
  j0.gpu_types = 1;
  j0.domain = model::Level::rack;
  tiny.job({{.gpu_milli = 600, .cpu_milli = 1000, .memory_mib = 100, .label = "share"}});
  tiny.job({{.gpu_milli = 600, .cpu_milli = 1000, .memory_mib = 100, .label = "share"}});
  tiny[tiny.job({{.cpu_milli = 4000, .memory_mib = 100, .label = "cpu"}})].required = true;
  tiny[tiny.job({{.gpus = 4, .cpu_milli = 1000, .memory_mib = 100, .label = "big"}})].required =
      true;
  return tiny;
}

model::RawCertificate some_prices() {
  model::RawCertificate c;
  c.scale_log2 = 20;
  c.level = "pod";
  c.pools = {{"pod-0", std::nullopt, "a", 100, {1, 0}}, {"pod-1", std::nullopt, "a", 50, {0, 1}}};
  c.shapes = {{{1000, 100}, 0, 600, "B", 7}, {{4000, 100}, 0, 0, "", 5}};
  c.multipliers = {{"b", {1, 2}}};
  return c;
}

/// The same prices by index.
model::Certificate same_prices() {
  model::Certificate c;
  c.scale_log2 = 20;
  c.pools = {{PodId(0), RackId(), ClassId(0), 100, {1, 0}},
             {PodId(1), RackId(), ClassId(0), 50, {0, 1}}};
  c.shapes = {{ShapeId(1), GpuTypeId(1), 7}, {ShapeId(2), GpuTypeId(), 5}};
  c.multipliers = {{ClassId(1), {1, 2}}};
  return c;
}

model::Placement placement() {
  return {{JobId(0), 0, {{MachineId(0), 0, 1, 1000}, {MachineId(1), 0, 2, 1000}}},
          {JobId(1), 0, {{MachineId(0), 0, 2, 600}}},
          {JobId(2), 0, {{MachineId(2), 0, 1, 600}}},
          {JobId(3), 0, {{MachineId(3), 0, 0, 0}}}};
}

void state(const model::Figures& f, model::RawFigures& raw) {
  raw = {f.objective,       f.upper_bound,         f.gap,        f.gpus_total,
         f.gpu_milli_total, f.gpu_milli_allocated, f.jobs_total, f.jobs_placed};
}

/// A sound plan of those jobs, as a file would state it.
Case sound() {
  Case c{five_jobs(), {}};
  const model::Instance& instance = c.tiny.instance;
  const model::Figures f = figures(instance, model::Objective::value, placement(), same_prices());
  model::RawPlan& p = c.plan;
  p.instance_digest = model::instance_digest(instance);
  p.plan_digest = model::plan_digest(instance, placement());
  p.proof_digest = proof_digest(instance, f.objective, f.upper_bound, same_prices());
  p.seed = 0;
  p.reproducible = true;
  p.objective_kind = "value";
  state(f, p.figures);
  p.required_missing = {"j4"};
  p.certificate = some_prices();
  p.placements = {
      {"j0",
       0,
       {raw_task("worker", "m0", {{0, 1000}}, 2000), raw_task("worker", "m1", {{1, 1000}}, 2000)}},
      {"j1", 0, {raw_task("share", "m0", {{1, 600}}, 1000)}},
      {"j2", 0, {raw_task("share", "m2", {{0, 600}}, 1000)}},
      {"j3", 0, {raw_task("cpu", "m3", {}, 4000)}}};
  p.waiting = {{"j4", "no machine has 4 GPUs"}};
  return c;
}

TEST(Check, accepts_a_sound_plan) {
  const Case c = sound();
  const CheckResult v = check(c.tiny.instance, c.plan);
  EXPECT_TRUE(v.valid()) << texts(v);
  EXPECT_EQ(v.figures.objective, 2.0 + 2 * 0.6);
  EXPECT_EQ(v.figures.upper_bound, *c.plan.figures.upper_bound);
  EXPECT_EQ(v.figures.jobs_placed, 4);
  EXPECT_EQ(v.figures.gpu_milli_allocated, 3200);
  EXPECT_THAT(v.required_missing, testing::ElementsAre(JobId(4)));
}

/// The same, job by job.
CheckResult check_in_pieces(const model::Instance& instance, const model::RawPlan& plan,
                            PlanCheck::Order order) {
  PlanCheck pieces(instance, plan, order);
  for (std::size_t j = 0; j < instance.workload.size(); ++j) {
    pieces.add_records(std::vector{JobId(j)});
  }
  for (const model::RawPlacement& placed : plan.placements) pieces.add(std::span(&placed, 1));
  pieces.end_records();
  for (const model::RawUnplacedJob& waiting : plan.waiting) pieces.add(std::span(&waiting, 1));
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const JobFacts facts = job_facts(instance, pieces.objective(), jobs);
  std::optional<Bound> bound;
  if (const auto& prices = pieces.prices(facts)) {
    bound = upper_bound(instance, pieces.objective(), *prices, pieces.required_placed());
  }
  return pieces.checked(bound);
}

TEST(PlanCheck, accepts_a_sound_plan_piece_by_piece) {
  const Case c = sound();
  for (const auto order : {PlanCheck::Order::any, PlanCheck::Order::by_name}) {
    const CheckResult v = check_in_pieces(c.tiny.instance, c.plan, order);
    EXPECT_TRUE(v.valid()) << texts(v);
    EXPECT_EQ(v.figures.objective, 2.0 + 2 * 0.6);
    EXPECT_EQ(v.figures.upper_bound, *c.plan.figures.upper_bound);
    EXPECT_THAT(v.required_missing, testing::ElementsAre(JobId(4)));
  }
}

struct Planted {
  FaultKind kind;
  std::string names;  ///< must appear in the fault's text
  std::function<void(model::RawPlan&)> plant;
};

class PlantedFault : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, is_refused_by_name) {
  Case c = sound();
  GetParam().plant(c.plan);
  const CheckResult v = check(c.tiny.instance, c.plan);
  EXPECT_FALSE(v.valid());
  EXPECT_THAT(kinds(v), testing::Contains(GetParam().kind)) << texts(v);
  const CheckResult pieces = check_in_pieces(c.tiny.instance, c.plan, PlanCheck::Order::any);
  EXPECT_THAT(kinds(pieces), testing::UnorderedElementsAreArray(kinds(v))) << texts(pieces);
  for (const Fault& f : v.faults) {
    if (f.kind == GetParam().kind) {
      EXPECT_THAT(f.text, testing::HasSubstr(GetParam().names));
    }
  }
}

using P = model::RawPlan;

const std::vector<Planted> kPlaced{
    {FaultKind::device_oversubscribed, "machine m0: device 1 holds 1200",
     [](P& p) {
       p.placements[2].tasks[0] = raw_task("share", "m0", {{1, 600}}, 1000);
     }},
    {FaultKind::device_out_of_range, "device 2 of machine m0",
     [](P& p) { p.placements[1].tasks[0].gpus[0].index = 2; }},
    {FaultKind::device_out_of_range, "device -1 of machine m0",
     [](P& p) { p.placements[1].tasks[0].gpus[0].index = -1; }},
    {FaultKind::split_gang, "job j0 has 1 of 2", [](P& p) { p.placements[0].tasks.pop_back(); }},
    {FaultKind::split_gang, "job j1 has 2 of 1",
     [](P& p) {
       p.placements[1].tasks.push_back(raw_task("share", "m2", {{1, 600}}, 1000));
     }},
    {FaultKind::repeated_job, "job j1", [](P& p) { p.placements.push_back(p.placements[1]); }},
    {FaultKind::repeated_job, "job j2",
     [](P& p) {
       p.waiting.push_back({"j2", "again"});
     }},
    {FaultKind::wrong_type, "job j0 on machine m2: GPU type B",
     [](P& p) {
       p.placements[0].tasks = {raw_task("worker", "m2", {{0, 1000}}, 2000),
                                raw_task("worker", "m2", {{1, 1000}}, 2000)};
     }},
    {FaultKind::unknown_machine, "machine m9",
     [](P& p) { p.placements[1].tasks[0].machine = "m9"; }},
    {FaultKind::unknown_job, "job ghost", [](P& p) { p.placements[1].job = "ghost"; }},
    {FaultKind::lost_job, "job j4", [](P& p) { p.waiting.clear(); }},
    {FaultKind::unknown_shape, "shape part", [](P& p) { p.placements[1].tasks[0].shape = "part"; }},
    {FaultKind::wrong_amounts, "job j1",
     [](P& p) { p.placements[1].tasks[0].gpus[0].milli = 500; }},
    {FaultKind::wrong_amounts, "job j1",
     [](P& p) { p.placements[1].tasks[0].needs[model::kCpu] = 999; }},
    {FaultKind::wrong_amounts, "job j1",
     [](P& p) { p.placements[1].tasks[0].needs[model::kMemory] = -1; }},
    {FaultKind::wrong_amounts, "job j1",
     [](P& p) {
       p.placements[1].tasks[0].gpus = {{0, 300}, {1, 300}};
     }},
    {FaultKind::wrong_amounts, "job j0", [](P& p) { p.placements[0].tasks[0].gpus.clear(); }},
    {FaultKind::repeated_device, "device 0 of machine m0",
     [](P& p) {
       p.placements[0].tasks[0].gpus = {{0, 500}, {0, 500}};
     }},
    {FaultKind::domain_violated, "job j0 lies in one cluster, but must lie in one rack",
     [](P& p) { p.placements[0].tasks[1].machine = "m3"; }},
    {FaultKind::bad_start, "job j2 starts at 5", [](P& p) { p.placements[2].start = 5; }},
};

const std::vector<Planted> kStated{
    {FaultKind::wrong_objective, "objective", [](P& p) { *p.figures.objective *= 1.01; }},
    {FaultKind::wrong_objective, "objective", [](P& p) { p.figures.objective = std::nan(""); }},
    {FaultKind::bound_too_low, "upper_bound", [](P& p) { *p.figures.upper_bound *= 0.999; }},
    {FaultKind::wrong_bound, "upper_bound", [](P& p) { *p.figures.upper_bound *= 1.5; }},
    {FaultKind::wrong_gap, "gap", [](P& p) { p.figures.gap = -0.1; }},
    {FaultKind::wrong_gap, "gap", [](P& p) { *p.figures.gap += 1e-6; }},
    {FaultKind::wrong_count, "gpus_total", [](P& p) { ++*p.figures.gpus_total; }},
    {FaultKind::wrong_count, "gpu_milli_total", [](P& p) { ++*p.figures.gpu_milli_total; }},
    {FaultKind::wrong_count, "gpu_milli_allocated", [](P& p) { ++*p.figures.gpu_milli_allocated; }},
    {FaultKind::wrong_count, "jobs_total", [](P& p) { --*p.figures.jobs_total; }},
    {FaultKind::wrong_count, "jobs_placed", [](P& p) { --*p.figures.jobs_placed; }},
    {FaultKind::wrong_required_missing, "j4", [](P& p) { p.required_missing->clear(); }},
    {FaultKind::wrong_required_missing, "j3", [](P& p) { p.required_missing->push_back("j3"); }},
    {FaultKind::other_instance, "instance_digest", [](P& p) { p.instance_digest = "00"; }},
    {FaultKind::wrong_plan_digest, "plan_digest", [](P& p) { p.plan_digest = "00"; }},
    {FaultKind::wrong_proof_digest, "proof_digest", [](P& p) { p.proof_digest = "00"; }},
    {FaultKind::wrong_proof_digest, "proof_digest",
     [](P& p) {
       p.certificate->multipliers.push_back({"a", {0, 0}});
     }},
    {FaultKind::wrong_objective_kind, "speed", [](P& p) { p.objective_kind = "speed"; }},
    {FaultKind::missing_entry, "instance_digest", [](P& p) { p.instance_digest.reset(); }},
    {FaultKind::missing_entry, "plan_digest", [](P& p) { p.plan_digest.reset(); }},
    {FaultKind::missing_entry, "proof_digest", [](P& p) { p.proof_digest.reset(); }},
    {FaultKind::missing_entry, "objective", [](P& p) { p.objective_kind.reset(); }},
    {FaultKind::missing_entry, "objective", [](P& p) { p.figures.objective.reset(); }},
    {FaultKind::missing_entry, "upper_bound", [](P& p) { p.figures.upper_bound.reset(); }},
    {FaultKind::missing_entry, "gap", [](P& p) { p.figures.gap.reset(); }},
    {FaultKind::missing_entry, "jobs_placed", [](P& p) { p.figures.jobs_placed.reset(); }},
    {FaultKind::missing_entry, "required_missing", [](P& p) { p.required_missing.reset(); }},
    {FaultKind::missing_entry, "certificate", [](P& p) { p.certificate.reset(); }},
};

const std::vector<Planted> kPriced{
    {FaultKind::negative_price, "pool pod-0/*/a for cpu_milli",
     [](P& p) { p.certificate->pools[0].unit_price[model::kCpu] = -1; }},
    {FaultKind::negative_price, "600 thousandths) on 'B'",
     [](P& p) { p.certificate->shapes[0].price = -3; }},
    {FaultKind::negative_price, "class b for memory_mib",
     [](P& p) { p.certificate->multipliers[0].unit_price[model::kMemory] = -1; }},
    {FaultKind::bad_certificate, "pod pod-7", [](P& p) { p.certificate->pools[0].pod = "pod-7"; }},
    {FaultKind::bad_certificate, "class z",
     [](P& p) { p.certificate->multipliers[0].machine_class = "z"; }},
    {FaultKind::bad_certificate, "GPU type Z",
     [](P& p) { p.certificate->shapes[0].gpu_type = "Z"; }},
    {FaultKind::bad_certificate, "no job asks", [](P& p) { p.certificate->shapes[0].gpus = 5; }},
    {FaultKind::bad_certificate, "listed twice",
     [](P& p) { p.certificate->pools.push_back(p.certificate->pools[0]); }},
    {FaultKind::bad_certificate, "gang of 2 tasks of shape (",
     [](P& p) {
       p.certificate->gangs = {{{{7, 100}, 1, 0, "A", 1}, 2}};
     }},
    {FaultKind::bad_certificate, "price of a gang of 2 tasks",
     [](P& p) {
       const model::RawGangPrice gang{p.certificate->shapes[0], 2};
       p.certificate->gangs = {gang, gang};
     }},
    {FaultKind::negative_price, "price of a gang of 2 tasks",
     [](P& p) {
       p.certificate->gangs = {{p.certificate->shapes[0], 2}};
       p.certificate->gangs[0].task.price = -1;
     }},
    {FaultKind::bad_certificate, "level", [](P& p) { p.certificate->level = "machine"; }},
    {FaultKind::bad_certificate, "rack", [](P& p) { p.certificate->pools[0].rack = "rack-0"; }},
    {FaultKind::bad_certificate, "scale_log2", [](P& p) { p.certificate->scale_log2 = 1LL << 40; }},
    {FaultKind::negative_price, "job j0",
     [](P& p) {
       p.certificate->jobs = {{"j0", -1}};
     }},
    {FaultKind::bad_certificate, "job j9",
     [](P& p) {
       p.certificate->jobs = {{"j9", 1}};
     }},
    {FaultKind::bad_certificate, "job j1: only jobs of whole GPUs",
     [](P& p) {
       p.certificate->jobs = {{"j1", 1}};
     }},
    {FaultKind::bad_certificate, "job j0 is listed twice",
     [](P& p) {
       p.certificate->jobs = {{"j0", 1}, {"j0", 1}};
     }},
    {FaultKind::bad_certificate, "ascending",
     [](P& p) {
       p.certificate->jobs = {{"j4", 1}, {"j0", 1}};
     }},
    {FaultKind::wrong_proof_digest, "proof_digest",
     [](P& p) {
       p.certificate->jobs = {{"j0", 0}};
     }},
};

INSTANTIATE_TEST_SUITE_P(Placed, PlantedFault, testing::ValuesIn(kPlaced));
INSTANTIATE_TEST_SUITE_P(Stated, PlantedFault, testing::ValuesIn(kStated));
INSTANTIATE_TEST_SUITE_P(Priced, PlantedFault, testing::ValuesIn(kPriced));

TEST(Check, refuses_one_job_on_two_gpu_types) {
  test::Tiny tiny;
  const ClassId a = tiny.machine_class("a", tiny.type("A"), 1, 8000, 1000);
  const ClassId b = tiny.machine_class("b", tiny.type("B"), 1, 8000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(a), tiny.machine(b);
  tiny.job({{.count = 2, .gpus = 1}});
  model::RawPlan plan;
  plan.placements = {
      {"j0", 0, {{"task", "m0", {{0, 1000}}, {0, 0}}, {"task", "m1", {{0, 1000}}, {0, 0}}}}};
  const CheckResult v = check(tiny.instance, plan);
  EXPECT_THAT(kinds(v), testing::Contains(FaultKind::mixed_types)) << texts(v);
}

TEST(Check, lists_twenty_faults_and_counts_all) {
  test::Tiny tiny;
  for (int i = 0; i < 50; ++i) tiny.job({{.gpus = 1}});
  const CheckResult v = check(tiny.instance, {});
  EXPECT_EQ(v.faults.size(), CheckResult::kMostFaults);
  EXPECT_GE(v.fault_count, 50);
}

}  // namespace
}  // namespace berth::certify
