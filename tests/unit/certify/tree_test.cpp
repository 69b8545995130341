// SPDX-License-Identifier: Apache-2.0
// Two racks of one machine of 2 GPUs; rack-1 is in a pod of its own. j0, j1, j2: 1 GPU, worth 1.
// j3: two tasks of 1 GPU, at most as wide as its domain, worth 1.5 (0.5 over two machines).
// The best plan is worth 3.5: j3 in one rack, two others in the other. Prices of jobs alone prove
// 3.75 at best: with y for the small jobs and z for j3,
//   3 y + z + 2 max(2 (1 - y), 1.5 - z) >= 3.75, least at y = 0.25, z = 0.
// With j3 out, y = 1 proves 3; with j3 in, y = 0 and z = -0.5 prove 3.5.
#include "tiny.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/check.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/gap_parts.hpp"
#include "berth/model/digest.hpp"

namespace berth::certify {
namespace {

using model::BoundTree;
using model::Certificate;
using model::Level;
using model::Objective;

constexpr std::int64_t kOne = 1 << 20;
const JobId kGang(3);

test::Tiny two_racks() {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 2, 8000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  for (int i = 0; i < 3; ++i) tiny.job({{.gpus = 1}});
  model::Job& gang = tiny[tiny.job({{.count = 2, .gpus = 1}})];
  gang.value = 1.5;
  gang.width_factor = tiny.factors({1.0, 1.0 / 3, 1.0 / 3, 1.0 / 3});
  return tiny;
}

Certificate prices(std::int64_t small, std::int64_t gang) {
  Certificate c;
  c.scale_log2 = 20;
  c.jobs = {{JobId(0), small}, {JobId(1), small}, {JobId(2), small}, {kGang, gang}};
  return c;
}

BoundTree::TreeNode child(std::int32_t parent, bool out, bool rest,
                          std::vector<BoundTree::PriceChange> changes) {
  return {.parent = parent,
          .split = {},
          .out = out,
          .rest = rest,
          .spots = {},
          .changes = std::move(changes)};
}

/// j3 in, or out.
Certificate in_or_out() {
  Certificate c = prices(kOne / 4, 0);
  c.tree.nodes.emplace_back().split = kGang;
  c.tree.nodes.push_back(child(0, true, false, {{0, kOne}, {1, kOne}, {2, kOne}}));
  c.tree.nodes.push_back(child(0, false, true, {{0, 0}, {1, 0}, {2, 0}, {3, -kOne / 2}}));
  return c;
}

double bound_of(const model::Instance& instance, const Certificate& c) {
  return upper_bound(instance, Objective::value, c, {}).value;
}

TEST(BoundTree, proves_what_prices_of_jobs_cannot) {
  const auto tiny = two_racks();
  EXPECT_EQ(bound_of(tiny.instance, prices(kOne / 4, 0)), 3.75);
  const Certificate tree = in_or_out();
  ASSERT_EQ(unusable(tiny.instance, Objective::value, tree), "");
  ASSERT_EQ(uncovered(tiny.instance, tree, {}), "");
  EXPECT_EQ(bound_of(tiny.instance, tree), 3.5);
}

TEST(BoundTree, a_leaf_sees_only_what_its_way_allows) {
  const auto tiny = two_racks();
  Certificate tree = prices(kOne / 4, 0);
  tree.tree.nodes.emplace_back().split = kGang;
  tree.tree.nodes.push_back(child(0, true, false, {{0, kOne}, {1, kOne}, {2, kOne}}));
  // In rack-0 for certain: any price low enough takes it there once.
  tree.tree.nodes.push_back(child(0, false, false, {{0, 0}, {1, 0}, {2, 0}, {3, -8 * kOne}}));
  tree.tree.nodes.back().spots = {
      {.gpu_type = GpuTypeId(0), .pod = {}, .rack = RackId(0), .width = {}}};
  tree.tree.nodes.push_back(child(0, false, false, {{0, 0}, {1, 0}, {2, 0}, {3, -8 * kOne}}));
  tree.tree.nodes.back().spots = {
      {.gpu_type = {}, .pod = PodId(1), .rack = {}, .width = Level::rack}};
  // Over the machines of both racks it is worth 0.5 and leaves room for two others.
  tree.tree.nodes.push_back(child(0, false, true, {{0, 0}, {1, 0}, {2, 0}, {3, -kOne / 2}}));
  ASSERT_EQ(uncovered(tiny.instance, tree, {}), "");
  EXPECT_EQ(bound_of(tiny.instance, tree), 3.5);
  tree.tree.nodes[1].changes[0].price = 2 * kOne;
  EXPECT_EQ(bound_of(tiny.instance, tree), 4.0) << "the largest leaf counts: 2 + 1 + 1";
}

TEST(BoundTree, a_price_holds_for_all_below) {
  const auto tiny = two_racks();
  Certificate tree = in_or_out();
  tree.tree.nodes[1].split = JobId(0);
  tree.tree.nodes.push_back(child(1, true, false, {}));
  tree.tree.nodes.push_back(child(1, false, true, {}));
  ASSERT_EQ(uncovered(tiny.instance, tree, {}), "");
  EXPECT_EQ(bound_of(tiny.instance, tree), 3.5);
  tree.tree.nodes[1].changes[1].price = 2 * kOne;
  EXPECT_EQ(bound_of(tiny.instance, tree), 4.0) << "j0 in: 1 + 2 + 1";
}

TEST(BoundTree, a_required_job_that_is_placed_needs_no_branch_without_it) {
  auto tiny = two_racks();
  tiny[kGang].required = true;
  Certificate tree = in_or_out();
  tree.tree.nodes.erase(tree.tree.nodes.begin() + 1);
  EXPECT_THAT(uncovered(tiny.instance, tree, {}), testing::HasSubstr("job j3 left out is in no"));
  const std::vector<JobId> placed{kGang};
  EXPECT_EQ(uncovered(tiny.instance, tree, placed), "");
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, tree, placed).value, 3.5);
}

TEST(BoundTree, a_job_that_runs_is_in_the_spot_where_it_stays) {
  auto tiny = two_racks();
  tiny.run(kGang, {{MachineId(1), 0, 1, 1000}, {MachineId(1), 0, 2, 1000}}).move_cost = 1.0;
  Certificate tree = prices(0, 0);
  tree.tree.nodes.emplace_back().split = kGang;
  tree.tree.nodes.push_back(child(0, true, false, {{0, kOne}, {1, kOne}, {2, kOne}}));
  tree.tree.nodes.push_back(child(0, false, false, {{3, -8 * kOne}}));
  tree.tree.nodes.back().spots = {{.gpu_type = {}, .pod = {}, .rack = RackId(1), .width = {}}};
  tree.tree.nodes.push_back(child(0, false, true, {{3, -kOne * 3 / 2}}));
  ASSERT_EQ(uncovered(tiny.instance, tree, {}), "");
  EXPECT_EQ(bound_of(tiny.instance, tree), 3.5) << "stays in rack-1 for nothing";
}

/// j3 in rack-0, j0 and j1 in rack-1.
model::Placement best_plan() {
  return {{JobId(0), 0, {{MachineId(1), 0, 1, 1000}}},
          {JobId(1), 0, {{MachineId(1), 0, 2, 1000}}},
          {kGang, 0, {{MachineId(0), 0, 1, 1000}, {MachineId(0), 0, 2, 1000}}}};
}

/// The small ones.
model::Placement other_plan() {
  return {{JobId(0), 0, {{MachineId(0), 0, 1, 1000}}},
          {JobId(1), 0, {{MachineId(0), 0, 2, 1000}}},
          {JobId(2), 0, {{MachineId(1), 0, 1, 1000}}}};
}

TEST(BoundTree, the_gap_tells_how_far_the_largest_leaf_is_above_that_of_the_plan) {
  const auto tiny = two_racks();
  const auto parts_of = [&](const model::Placement& plan) {
    const auto f = figures(tiny.instance, Objective::value, plan, in_or_out());
    return gap_parts(tiny.instance, Objective::value, plan, in_or_out(), f);
  };
  EXPECT_EQ(parts_of(best_plan()).leaves, 0.0);
  const model::GapParts parts = parts_of(other_plan());
  EXPECT_EQ(parts.leaves, 0.5);
  EXPECT_EQ(parts.rounding, 0.0);
  EXPECT_TRUE(parts.regret.empty());
}

model::RawPlan raw_plan(const model::Instance& instance) {
  const Certificate c = in_or_out();
  const auto f = figures(instance, Objective::value, best_plan(), c);
  model::RawPlan p;
  p.instance_digest = model::instance_digest(instance);
  p.plan_digest = model::plan_digest(instance, best_plan());
  p.proof_digest = proof_digest(instance, f.objective, f.upper_bound, c);
  p.objective_kind = "value";
  p.figures = {f.objective,       f.upper_bound,         f.gap,        f.gpus_total,
               f.gpu_milli_total, f.gpu_milli_allocated, f.jobs_total, f.jobs_placed};
  p.required_missing = std::vector<std::string>{};
  p.certificate = model::RawCertificate{};
  p.certificate->scale_log2 = 20;
  p.certificate->level = "pod";
  const std::int64_t y = kOne / 4;
  p.certificate->jobs = {{"j0", y}, {"j1", y}, {"j2", y}, {"j3", 0}};
  p.certificate->tree.resize(3);
  p.certificate->tree[0].split = "j3";
  p.certificate->tree[1] = {
      .parent = 0, .split = {}, .out = true, .changes = {{0, kOne}, {1, kOne}, {2, kOne}}};
  p.certificate->tree[2] = {
      .parent = 0, .split = {}, .rest = true, .changes = {{0, 0}, {1, 0}, {2, 0}, {3, -kOne / 2}}};
  p.placements = {
      {"j0", 0, {{"task", "m1", {{0, 1000}}, {0, 0}}}},
      {"j1", 0, {{"task", "m1", {{1, 1000}}, {0, 0}}}},
      {"j3", 0, {{"task", "m0", {{0, 1000}}, {0, 0}}, {"task", "m0", {{1, 1000}}, {0, 0}}}}};
  p.waiting = {{"j2", "no room"}};
  return p;
}

TEST(CheckTree, accepts_a_plan_that_it_proves_optimal) {
  const auto tiny = two_racks();
  const CheckResult v = check(tiny.instance, raw_plan(tiny.instance));
  EXPECT_TRUE(v.valid()) << v.faults.front().text;
  EXPECT_EQ(v.figures.upper_bound, 3.5);
  EXPECT_EQ(v.figures.gap, 0.0);
}

using Raw = model::RawCertificate;

struct Broken {
  FaultKind kind;
  std::string names;  ///< must appear in the fault's text
  std::function<void(Raw&)> plant;
};

class BrokenTree : public testing::TestWithParam<Broken> {};

TEST_P(BrokenTree, is_refused_by_name) {
  const auto tiny = two_racks();
  model::RawPlan plan = raw_plan(tiny.instance);
  GetParam().plant(*plan.certificate);
  const CheckResult v = check(tiny.instance, plan);
  ASSERT_FALSE(v.valid());
  EXPECT_EQ(v.faults.front().kind, GetParam().kind) << v.faults.front().text;
  EXPECT_THAT(v.faults.front().text, testing::HasSubstr(GetParam().names));
}

void in_spots(Raw& c, model::RawSpotSet spots) {
  c.tree[2].rest = false;
  c.tree[2].spots = {std::move(spots)};
}

const std::vector<Broken> kOpen{
    {FaultKind::incomplete_tree, "job j3 left out is in no child of node 0",
     [](Raw& c) { c.tree[1].out = false; }},
    {FaultKind::incomplete_tree, "job j3 left out is in more than one",
     [](Raw& c) { c.tree[2].out = true; }},
    {FaultKind::incomplete_tree, "job j3 left out is in no",
     [](Raw& c) { c.tree.erase(c.tree.begin() + 1); }},
    {FaultKind::incomplete_tree, "job j3 on A in rack rack-0 is in no",
     [](Raw& c) { c.tree[2].rest = false; }},
    {FaultKind::incomplete_tree, "job j3 on A in rack rack-0 is in more than one",
     [](Raw& c) { c.tree[1].rest = true; }},
    {FaultKind::incomplete_tree, "on A in rack rack-0 is in no",
     [](Raw& c) {
       in_spots(c, {{}, {}, "rack-1", {}});
     }},
    {FaultKind::incomplete_tree, "on A in rack rack-1 is in no",
     [](Raw& c) {
       in_spots(c, {"A", "pod-0", {}, {}});
     }},
    {FaultKind::incomplete_tree, "on A in rack rack-1 is in no",
     [](Raw& c) {
       in_spots(c, {"A", "pod-1", "rack-0", {}});  // no rack of that pod
       c.tree[2].spots.push_back({{}, "pod-0", {}, {}});
     }},
    {FaultKind::incomplete_tree, "on A over racks of pod pod-0 is in no",
     [](Raw& c) {
       in_spots(c, {{}, {}, {}, "rack"});
     }},
    {FaultKind::incomplete_tree, "on A over pods is in no",
     [](Raw& c) {
       in_spots(c, {{}, {}, {}, "rack"});
       c.tree[2].spots.push_back({{}, {}, {}, "pod"});
     }},
    {FaultKind::incomplete_tree, "on A in rack rack-0 is in no",
     [](Raw& c) {
       c.tree[2].split = "j3";  // again: what it may do here is to be shared out in full
       c.tree.push_back({.parent = 2, .split = {}, .spots = {{{}, {}, "rack-1", {}}}});
       c.tree.push_back({.parent = 2, .split = {}, .spots = {{{}, {}, {}, "pod"}}});
     }},
    {FaultKind::incomplete_tree, "price of job j3 is negative in node 0",
     [](Raw& c) {
       c.tree[0].changes = {{3, -1}};
     }},
    {FaultKind::incomplete_tree, "price of job j3 is negative in node 1",
     [](Raw& c) {
       c.tree[1].changes.push_back({3, -1});
     }},
    {FaultKind::incomplete_tree, "price of job j2 is negative in node 2",
     [](Raw& c) { c.tree[2].changes[2].price = -1; }},
};

const std::vector<Broken> kMalformed{
    {FaultKind::bad_certificate, "node 0 of the tree is the root, but has a parent",
     [](Raw& c) { c.tree[0].parent = 0; }},
    {FaultKind::bad_certificate, "node 1 of the tree has no parent",
     [](Raw& c) { c.tree[1].parent.reset(); }},
    {FaultKind::bad_certificate, "node 1 of the tree has no parent",
     [](Raw& c) { c.tree[1].parent = 2; }},
    {FaultKind::bad_certificate, "node 2 of the tree has no parent",
     [](Raw& c) { c.tree[2].parent = 1LL << 40; }},
    {FaultKind::bad_certificate, "node 2 of the tree has no parent",
     [](Raw& c) { c.tree[2].parent = -(1LL << 40); }},
    {FaultKind::bad_certificate, "node 0 of the tree has children, but splits no job",
     [](Raw& c) { c.tree[0].split.reset(); }},
    {FaultKind::bad_certificate, "node 2 of the tree splits a job, but has no children",
     [](Raw& c) { c.tree[2].split = "j0"; }},
    {FaultKind::bad_certificate, "node 0 of the tree splits a job that has no price",
     [](Raw& c) {
       c.jobs.pop_back();
       c.tree[2].changes.pop_back();
     }},
    {FaultKind::bad_certificate, "tree: job ghost", [](Raw& c) { c.tree[0].split = "ghost"; }},
    {FaultKind::bad_certificate, "tree: pod pod-9",
     [](Raw& c) {
       in_spots(c, {{}, "pod-9", {}, {}});
     }},
    {FaultKind::bad_certificate, "tree: rack rack-9",
     [](Raw& c) {
       in_spots(c, {{}, {}, "rack-9", {}});
     }},
    {FaultKind::bad_certificate, "tree: GPU type Z",
     [](Raw& c) {
       in_spots(c, {"Z", {}, {}, {}});
     }},
    {FaultKind::bad_certificate, "width is none of rack, pod, cluster: machine",
     [](Raw& c) {
       in_spots(c, {{}, {}, {}, "machine"});
     }},
    {FaultKind::bad_certificate, "node 2 of the tree changes a price that is not listed",
     [](Raw& c) { c.tree[2].changes[3].position = 4; }},
    {FaultKind::bad_certificate, "node 2 of the tree changes a price that is not listed",
     [](Raw& c) { c.tree[2].changes[3].position = -1; }},
    {FaultKind::bad_certificate, "node 2 of the tree changes prices not in ascending order",
     [](Raw& c) { c.tree[2].changes[1].position = 0; }},
    {FaultKind::bound_too_low, "upper_bound",
     [](Raw& c) { c.tree[2].changes[3].price = -kOne * 5 / 8; }},
    {FaultKind::wrong_proof_digest, "proof_digest",
     [](Raw& c) { c.tree[1].changes[0].price = kOne + 1; }},
};

INSTANTIATE_TEST_SUITE_P(Open, BrokenTree, testing::ValuesIn(kOpen));
INSTANTIATE_TEST_SUITE_P(Malformed, BrokenTree, testing::ValuesIn(kMalformed));

}  // namespace
}  // namespace berth::certify
