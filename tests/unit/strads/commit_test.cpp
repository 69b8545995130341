// SPDX-License-Identifier: Apache-2.0
// The rules on random proposals with stale snapshots; and what happens without them.
#include "berth/strads/commit.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace berth::strads {
namespace {

constexpr std::size_t kHard = 4, kSoft = 3;

/// Machines of 10 units, then links whose cost is curvature / 2 x use^2.
std::vector<SharedResource> world() {
  std::vector<SharedResource> resources(kHard, {.capacity = 10.0});
  resources.insert(resources.end(), kSoft, {.curvature = 0.1});
  return resources;
}

double cost_of(std::span<const double> use) {
  double sum = 0.0;
  for (std::size_t r = kHard; r < use.size(); ++r) sum += 0.05 * use[r] * use[r];
  return sum;
}

/// A job that takes room on one machine and traffic on one link; its true footprint, apart from
/// what it tells the log.
struct Truth {
  std::int64_t job;
  double value;
  std::vector<ResourceChange> use;
};

class Round {
 public:
  explicit Round(unsigned seed) : random_(seed), ledger_(world()), use_(kHard + kSoft, 0.0) {}

  void propose(std::int64_t job) {
    const auto pick = [&](std::size_t n) { return random_() % n; };
    Truth truth{job, 1.0 + static_cast<double>(pick(50)) / 10.0, {}};
    truth.use = {{pick(kHard), 1.0 + static_cast<double>(pick(4))},
                 {kHard + pick(kSoft), 1.0 + static_cast<double>(pick(3))}};
    truths_.push_back(truth);
    const double gain = truth.value - (cost_with(truth.use) - cost_of(use_));
    if (gain < 1e-9) return;
    const ItemKey key{ItemKind::job, job};
    proposals_.push_back({.id = static_cast<std::int64_t>(truths_.size()) - 1,
                          .gain = gain,
                          .snapshot = ledger_.now(),
                          .reads = {{key, versions_.of(key)}},
                          .use = truth.use});
  }

  /// Commits what was proposed; true use and value are booked apart from the log.
  std::vector<CommitVerdict> commit_all(double theta = 0.5) {
    const auto verdicts = commit(proposals_, versions_, ledger_, theta);
    for (const std::size_t i : commit_order(proposals_)) {
      if (verdicts[i] != CommitVerdict::committed) continue;
      const Truth& truth = truths_[static_cast<std::size_t>(proposals_[i].id)];
      const double before = value_ - cost_of(use_);
      for (const ResourceChange& t : truth.use) use_[t.resource] += t.change;
      value_ += truth.value;
      least_share = std::min(least_share, (value_ - cost_of(use_) - before) / proposals_[i].gain);
      twice = twice || !placed_.insert(truth.job).second;
    }
    for (std::size_t r = 0; r < kHard; ++r) full = std::max(full, use_[r]);
    proposals_.clear();
    return verdicts;
  }

  std::vector<Proposal>& proposals() { return proposals_; }

  double least_share = 1.0;  ///< of its gain that any commit brought
  double full = 0.0;         ///< most in use on any machine
  bool twice = false;        ///< some job was placed twice

 private:
  [[nodiscard]] double cost_with(std::span<const ResourceChange> changes) const {
    std::vector<double> use = use_;
    for (const ResourceChange& t : changes) use[t.resource] += t.change;
    return cost_of(use);
  }

  std::mt19937 random_;
  Versions versions_;
  CommitLog ledger_;
  std::vector<double> use_;
  double value_ = 0.0;
  std::vector<Truth> truths_;
  std::vector<Proposal> proposals_;
  std::set<std::int64_t> placed_;
};

TEST(Commit, keeps_capacities_and_its_share_of_every_gain_on_stale_snapshots) {
  for (const double theta : {0.0, 0.5, 0.9}) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
      Round round(seed);
      for (int batch = 0; batch < 4; ++batch) {
        for (int i = 0; i < 12; ++i) round.propose(100 * batch + i);
        round.commit_all(theta);
      }
      ASSERT_LE(round.full, 10.0) << "seed " << seed;
      ASSERT_GE(round.least_share, 1.0 - theta - 1e-9) << "seed " << seed;
    }
  }
}

/// Negative control: proposals that do not tell what they use pass, and machines overflow.
TEST(Commit, without_footprints_over_commits) {
  Round round(1);
  for (int i = 0; i < 40; ++i) round.propose(i);
  for (Proposal& p : round.proposals()) p.use.clear();
  round.commit_all();
  EXPECT_GT(round.full, 10.0);
}

/// A job offered to two destinations is placed once; without its version, twice.
TEST(Commit, places_a_job_once_only_because_of_its_version) {
  for (const bool told : {true, false}) {
    Round round(3);
    round.propose(5);
    round.propose(5);
    ASSERT_EQ(round.proposals().size(), 2U);
    if (!told) {
      for (Proposal& p : round.proposals()) p.reads.clear();
    }
    const auto verdicts = round.commit_all(0.9);
    EXPECT_EQ(round.twice, !told);
    EXPECT_EQ(std::ranges::count(verdicts, CommitVerdict::stale), told ? 1 : 0);
  }
}

TEST(Commit, refuses_what_was_seen_on_a_machine_that_has_changed) {
  Versions versions;
  CommitLog log(std::vector<SharedResource>{});
  const ItemKey machine{ItemKind::machine, 1};
  const std::vector<Proposal> first{{.id = 1, .gain = 2.0, .reads = {{machine, 0}}}};
  EXPECT_EQ(commit(first, versions, log)[0], CommitVerdict::committed);
  EXPECT_EQ(commit(first, versions, log)[0], CommitVerdict::stale);
  EXPECT_EQ(versions.of(machine), 1U);
  EXPECT_EQ(versions.of({ItemKind::job, 1}), 0U);  // another item of the same number
}

TEST(Commit, looks_at_proposals_by_gain_whatever_order_they_come_in) {
  const auto make = [](std::int64_t id, double gain) {
    return Proposal{.id = id, .gain = gain, .use = {{0, 6.0}}};
  };
  std::vector<Proposal> proposals{make(1, 2.0), make(2, 3.0), make(0, 3.0)};
  for (int i = 0; i < 6; ++i) {
    std::ranges::next_permutation(proposals, {}, &Proposal::id);
    Versions versions;
    CommitLog log(std::vector<SharedResource>{{.capacity = 10.0}});
    const auto verdicts = commit(proposals, versions, log);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(verdicts[k],
                proposals[k].id == 0 ? CommitVerdict::committed : CommitVerdict::over_capacity);
    }
  }
}

TEST(CommitLog, counts_only_what_pushes_the_same_way_since_the_snapshot) {
  CommitLog log(std::vector<SharedResource>{{.curvature = 2.0}, {.capacity = 1.0}});
  const std::vector<ResourceChange> up{{0, 3.0}}, down{{0, -1.0}};
  log.apply(up);
  const auto snapshot = log.now();
  EXPECT_EQ(log.interference(up, snapshot), 0.0);
  EXPECT_EQ(log.interference(up, 0), 2.0 * 3.0 * 3.0);
  EXPECT_EQ(log.interference(down, 0), 0.0);
  log.apply(down);
  EXPECT_EQ(log.interference(down, snapshot), 2.0 * 1.0 * 1.0);
  EXPECT_EQ(log.use(0), 2.0);
  EXPECT_TRUE(log.fits(std::vector<ResourceChange>{{1, -5.0}, {0, 1e9}}));
  EXPECT_FALSE(log.fits(std::vector<ResourceChange>{{1, 1.5}}));
}

}  // namespace
}  // namespace berth::strads
