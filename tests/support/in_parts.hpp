// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/gap_parts.hpp"

namespace berth::test {

/// All results of the judge for one plan.
struct Judgement {
  certify::JobFacts facts;
  certify::Bound bound;
  model::Figures figures;
  model::GapParts gap_parts;
  std::vector<JobId> required_missing;
};

/// The instance with the records of these jobs and of the pinned ones.
inline model::Instance part_of(const model::Instance& whole, std::span<const JobId> jobs) {
  model::Instance part = whole;
  part.workload.job_names = {};
  std::vector<JobId> kept = model::pinned_jobs(whole.workload);
  kept.insert(kept.end(), jobs.begin(), jobs.end());
  model::make_part(part.workload);
  model::keep_jobs(part.workload, kept);
  return part;
}

/// Judges a plan part by part: no part has the records of all jobs. Each part's instance also has
/// the jobs of the part before, which are not its own; the sum is formed with the pinned jobs only.
class InParts {
 public:
  InParts(const model::Instance& whole, model::Objective kind, const model::Certificate& prices,
          const model::Placement& placement)
      : whole_(whole), kind_(kind), prices_(prices), placement_(placement) {}

  [[nodiscard]] Judgement judge(std::span<const std::vector<JobId>> parts) const {
    using namespace certify;
    std::vector<Share> shares;
    Judgement all;
    JobTerms terms;
    PlacementSums placed;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Share& s = shares.emplace_back(share(parts[p], parts[(p + parts.size() - 1) % parts.size()]));
      const JobSubset subset{s.jobs, s.placement};
      all.facts += job_facts(s.instance, kind_, s.jobs);
      placed += placement_sums(s.instance, kind_, s.placement);
      const auto missing = required_missing(s.instance, subset);
      all.required_missing.insert(all.required_missing.end(), missing.begin(), missing.end());
    }
    for (Share& s : shares) {
      const JobSubset subset{s.jobs, s.placement};
      s.bests = job_bests(s.instance, kind_, prices_, all.facts, s.jobs);
      terms += job_terms(s.instance, prices_, s.jobs, s.bests, required_placed(s.instance, subset));
    }
    std::ranges::sort(all.required_missing);
    const model::Instance few = part_of(whole_, {});
    EXPECT_EQ(unusable(few, kind_, prices_, all.facts), "");
    all.bound = upper_bound(few, kind_, prices_, all.facts, terms);
    all.figures = recount(few, kind_, placed);
    GapSums gaps;
    for (const Share& s : shares) {
      gaps += job_gaps(s.instance, kind_, {s.jobs, s.placement}, prices_, all.facts, s.bests,
                       all.bound);
    }
    all.figures.upper_bound = all.bound.value;
    all.gap_parts = certify::gap_parts(
        few, kind_, prices_, {all.facts, placed, all.bound, all.figures, terms.stays}, gaps);
    return all;
  }

  /// Judges with the records of all jobs.
  [[nodiscard]] Judgement judge_whole() const {
    const auto jobs = model::planned_jobs(whole_.workload);
    const auto required = certify::required_placed(whole_, placement_);
    Judgement all{.facts = certify::job_facts(whole_, kind_, jobs),
                  .bound = certify::upper_bound(whole_, kind_, prices_, required),
                  .figures = certify::recount(whole_, kind_, placement_),
                  .gap_parts = {},
                  .required_missing = certify::required_missing(whole_, placement_)};
    all.figures.upper_bound = all.bound.value;
    all.gap_parts = certify::gap_parts(whole_, kind_, placement_, prices_, all.figures);
    return all;
  }

 private:
  struct Share {
    model::Instance instance;
    std::vector<JobId> jobs;
    model::Placement placement;
    certify::JobBests bests;
  };

  [[nodiscard]] Share share(const std::vector<JobId>& jobs, std::vector<JobId> strangers) const {
    strangers.insert(strangers.end(), jobs.begin(), jobs.end());
    Share s{part_of(whole_, strangers), jobs, {}, {}};
    for (const model::JobPlacement& placed : placement_) {
      if (std::ranges::binary_search(jobs, placed.job)) s.placement.push_back(placed);
    }
    return s;
  }

  const model::Instance& whole_;
  model::Objective kind_;
  const model::Certificate& prices_;
  const model::Placement& placement_;
};

/// Compares bit by bit.
inline void expect_same(const Judgement& a, const Judgement& b) {
  EXPECT_TRUE(a.facts == b.facts);
  const auto terms = [](const certify::Bound& x) {
    return std::vector{x.exact, x.machines, x.jobs, x.leaf, x.shared, x.zero_price, x.capacity};
  };
  EXPECT_TRUE(terms(a.bound) == terms(b.bound));
  EXPECT_EQ(a.bound.value, b.bound.value);
  EXPECT_EQ(a.figures.objective, b.figures.objective);
  EXPECT_EQ(a.figures.gpus_total, b.figures.gpus_total);
  EXPECT_EQ(a.figures.gpu_milli_allocated, b.figures.gpu_milli_allocated);
  EXPECT_EQ(a.figures.jobs_total, b.figures.jobs_total);
  EXPECT_EQ(a.figures.jobs_placed, b.figures.jobs_placed);
  EXPECT_EQ(a.required_missing, b.required_missing);
  const auto amounts = [](const model::GapParts& parts) {
    std::vector<double> all{static_cast<double>(parts.basis), parts.leaves, parts.rounding};
    all.insert(all.end(), parts.limits.begin(), parts.limits.end());
    for (const auto& r : parts.regret) {
      all.insert(all.end(), {static_cast<double>(r.gpus), static_cast<double>(r.jobs), r.amount});
    }
    for (const auto& i : parts.idle) all.push_back(i.amount);
    return all;
  };
  EXPECT_EQ(amounts(a.gap_parts), amounts(b.gap_parts));
}

}  // namespace berth::test
