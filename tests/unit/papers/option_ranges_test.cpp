// SPDX-License-Identifier: Apache-2.0
// Every option of every published scheduler: a value out of its range is an error that names the
// option and the range; the ends of the range are not. Here those of jobs and machines.
#include "option_ranges.hpp"

#include "petsc_environment.hpp"
#include "ring_case.hpp"

#include <type_traits>
#include <utility>

#include "berth/papers/gadget/ring_relaxation.hpp"
#include "berth/papers/gadget/slot_rules.hpp"
#include "berth/papers/pd_ors/admission.hpp"
#include "berth/papers/pd_ors/distributed_slots.hpp"
#include "berth/papers/sjf_bco/sjf_bco.hpp"
#include "berth/papers/smd/smd_schedule.hpp"

namespace berth::papers {
namespace {

using testing::expect_ranges;
using testing::kNan;
using testing::whole;

pd_ors::SlotInstance one_training() {
  return {
      .slots = 3,
      .resources = 1,
      .capacity = {4.0, 4.0},
      .jobs = {{.samples = 2.0, .max_workers = 2, .worker = {1.0}, .server = {1.0}, .c1 = 9.0}}};
}

TEST(OptionRanges, PdOrsAndOasis) {
  using namespace pd_ors;
  const SlotInstance instance = one_training();
  const auto with = [&](DistributedOptions options) { DistributedSlots solver(options); };
  const auto admit = [&](double units) {
    (void)run_admission(instance, pd_ors_prices(instance), ColocatedSlots(), whole(units));
  };
  expect_ranges({
      {"pd-ors: units", "at least 1", admit, {0, -1}, {1, 4}},
      {"pd-ors: gain", "above 0", [&](double v) { with({.gain = v}); }, {0, -1, kNan}, {0.1, 2}},
      {"pd-ors: delta",
       "above 0 and at most 1",
       [&](double v) { with({.delta = v}); },
       {0, 1.5, kNan},
       {0.5, 1}},
      {"pd-ors: attempts",
       "at least 1",
       [&](double v) { with({.attempts = static_cast<std::uint64_t>(v)}); },
       {0},
       {1}},
      {"pd-ors: least_utility",
       "above 0 and at most 1",
       [&](double v) { (void)pd_ors_prices(instance, v); },
       {0, -1, 2},
       {1e-9, 1}},
      {"oasis: least_utility",
       "above 0 and at most 1",
       [&](double v) { (void)oasis_prices(instance, 1, v); },
       {0, 2},
       {1}},
      {"oasis: worker_machines",
       "at least 1 and at most 1",
       [&](double v) { (void)oasis_prices(instance, static_cast<std::size_t>(v)); },
       {0, 2},
       {1}},
  });
}

TEST(OptionRanges, SmdOptimusAndEsw) {
  using namespace smd;
  const SmdInstance instance{
      .jobs =
          {{.speed = {.batch = 8, .forward = 0.1, .backward = 1, .model_gbit = 1, .server_gbps = 1},
            .worker = {1.0},
            .server = {1.0},
            .limit = {6.0},
            .c1 = 1.0}},
      .capacity = {10.0}};
  const auto rounded = [&](SmdOptions options) { (void)rounded_crews(instance, options); };
  const auto checked = [&](double unit, double capacity) {
    SmdInstance other = instance;
    other.time_unit = unit;
    other.capacity[0] = capacity;
    check_instance(other);
  };
  expect_ranges({
      {"smd: epsilon", "above 0", [&](double v) { rounded({.epsilon = v}); }, {0, -1, kNan}, {0.5}},
      {"smd: gain", "above 0", [&](double v) { rounded({.rounding = {.gain = v}}); }, {0, -1}, {1}},
      {"smd: attempts",
       "at least 1",
       [&](double v) { rounded({.rounding = {.most = static_cast<std::uint64_t>(v)}}); },
       {0},
       {1}},
      {"smd: time_unit", "above 0", [&](double v) { checked(v, 1.0); }, {0, -1, kNan}, {0.1}},
      {"smd: capacity[0]", "at least 0", [&](double v) { checked(1.0, v); }, {-1, kNan}, {0}},
      {"optimus: time_unit",
       "above 0",
       [&](double v) { (void)optimus_crew(instance.jobs[0], OptimusGain::utility, v); },
       {0, -1},
       {1}},
  });
  // ESW has no option; what it reads is the job, which check_instance names.
  SmdInstance missing = instance;
  missing.jobs[0].limit.clear();
  try {
    check_instance(missing);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().field, "limit");
    EXPECT_NE(error.problem().find("job 0"), std::string::npos);
  }
}

TEST(OptionRanges, Gadget) {
  using namespace gadget;
  const RingInstance sound{
      .slots = 1,
      .cluster = {.gpus = {1}, .server_link = {1.0}, .rack = {0}, .rack_link = {1.0}},
      .jobs = {{.budget = 1, .bandwidth = 1.0}}};
  const auto with = [&](const auto& change) {
    return [&sound, change](double value) {
      RingInstance instance = sound;
      change(instance, value);
      (void)run_slots(instance, gadget_slot);
    };
  };
  const auto job = [&](auto member) {
    return with([member](RingInstance& i, double v) {
      using Value = std::remove_reference_t<decltype(i.jobs[0].*member)>;
      i.jobs[0].*member = static_cast<Value>(v);
    });
  };
  const std::vector<SlotJob> jobs = {{&sound.jobs[0], 0, 0}};
  const RingRelaxation relaxation = relax_slot(sound.cluster, jobs);
  expect_ranges({
      {"gadget: slots",
       "at least 1",
       with([](RingInstance& i, double v) { i.slots = whole(v); }),
       {0, -1},
       {1, 2}},
      {"gadget: servers[0].gpus",
       "at least 0",
       with([](RingInstance& i, double v) { i.cluster.gpus[0] = whole(v); }),
       {-1},
       {0, 1}},
      {"gadget: servers[0].link",
       "at least 0",
       with([](RingInstance& i, double v) { i.cluster.server_link[0] = v; }),
       {-1, kNan},
       {0}},
      {"gadget: servers[0].rack",
       "at least 0 and at most 0",
       with([](RingInstance& i, double v) { i.cluster.rack[0] = static_cast<std::size_t>(v); }),
       {1},
       {0}},
      {"gadget: racks[0].link",
       "at least 0",
       with([](RingInstance& i, double v) { i.cluster.rack_link[0] = v; }),
       {-1},
       {0}},
      {"gadget: jobs[0].arrival", "at least 0", job(&RingJob::arrival), {-1}, {0, 5}},
      {"gadget: jobs[0].most", "at least 1", job(&RingJob::most), {0}, {1}},
      {"gadget: jobs[0].budget", "at least 0", job(&RingJob::budget), {-1}, {0, 1}},
      {"gadget: jobs[0].efficiency", "above 0", job(&RingJob::efficiency), {0, -1, kNan}, {0.1}},
      {"gadget: jobs[0].bandwidth", "at least 0", job(&RingJob::bandwidth), {-1}, {0}},
      {"gadget: jobs[0].c1", "at least 0", job(&RingJob::c1), {-1}, {0}},
      {"gadget: jobs[0].c2", "at least 0", job(&RingJob::c2), {-1}, {0}},
      {"gadget: efficiency",
       "above 0",
       [](double v) { (void)worker_slots_of(1.0, v, BudgetReading::iterations); },
       {0, -1},
       {1}},
      {"gadget: budget",
       "at least 0",
       [](double v) { (void)worker_slots_of(v, 1.0, BudgetReading::iterations); },
       {-1},
       {0}},
      {"gadget: draws",
       "at least 1",
       [&](double v) {
         (void)round_rings(sound.cluster, jobs, relaxation, 1, static_cast<std::uint64_t>(v));
       },
       {0},
       {1}},
  });
}

TEST(OptionRanges, SjfBcoAndItsBaselines) {
  const RingCase rings({2}, {2}, 1000);
  const std::vector<std::size_t> order = {0};
  using Run = std::function<void(const RingBatch&, const SjfBcoOptions&)>;
  const std::pair<const char*, Run> searches[] = {
      {"SJF-BCO", [](const RingBatch& b, const SjfBcoOptions& o) { (void)sjf_bco(b, o); }},
      {"FF", [&](const RingBatch& b, const SjfBcoOptions& o) { (void)first_fit(b, order, o); }},
      {"LS",
       [&](const RingBatch& b, const SjfBcoOptions& o) { (void)list_scheduling(b, order, o); }}};
  for (const auto& [name, run] : searches) {
    SCOPED_TRACE(name);
    expect_ranges({
        {"sjf-bco: horizon",
         "at least 1",
         [&](double v) { run(rings.batch, {.horizon = whole(v)}); },
         {0, -1},
         {1}},
        {"sjf-bco: spread",
         "at least 1",
         [&](double v) { run(rings.batch, {.spread = v}); },
         {0.5, kNan},
         {1}},
        {"sjf-bco: overestimate",
         "at least 1",
         [&](double v) { run(rings.batch, {.overestimate = v}); },
         {0.5, kNan},
         {1}},
        {"sjf-bco: kappa",
         "at least 0",
         [&](double v) { run(rings.batch, {.kappa = whole(v)}); },
         {-1},
         {0, 2}},
    });
  }
  const auto random = [&](const RingBatch& b, const SjfBcoOptions&) {
    (void)random_gpus(b, order, 1);
  };
  for (const Run& run : {searches[0].second, searches[1].second, searches[2].second, Run(random)}) {
    RingBatch batch = rings.batch;
    const auto with = [&](auto member) {
      return [&batch, &run, member](double v) {
        const auto before = batch.jobs[0].*member;
        batch.jobs[0].*member = static_cast<std::remove_cvref_t<decltype(before)>>(v);
        try {
          run(batch, {});
        } catch (...) {
          batch.jobs[0].*member = before;
          throw;
        }
        batch.jobs[0].*member = before;
      };
    };
    expect_ranges({
        {"sjf-bco: jobs[0].gpus",
         "at least 1 and at most 2",
         with(&RingBatchJob::gpus),
         {0, 3},
         {1}},
        {"sjf-bco: jobs[0].iterations", "at least 1", with(&RingBatchJob::iterations), {0}, {1}},
        {"sjf-bco: jobs[0].estimate", "above 0", with(&RingBatchJob::estimate), {0, kNan}, {1}},
    });
  }
}

}  // namespace
}  // namespace berth::papers
