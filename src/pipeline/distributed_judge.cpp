// SPDX-License-Identifier: Apache-2.0
#include "distributed_judge.hpp"

#include <algorithm>
#include <cstdint>

#include "berth/base/assert.hpp"
#include "berth/certify/gap_parts.hpp"
#include "berth/comm/messages.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;
using model::Certificate;

/// Broadcasts rank 0's prices except job prices and the search: with these, all jobs are on rank 0.
Certificate broadcast_prices(const Communicator& comm, const Certificate& certificate) {
  Certificate shared = comm.rank() == 0 ? certificate : Certificate{};
  shared.jobs.clear();
  shared.tree = {};
  shared.search_steps = 0;
  comm::broadcast(comm, shared);
  return comm.rank() == 0 ? certificate : shared;
}

/// Reduces the scale by `bits` and rounds prices down; the bound holds at any prices.
void coarsen(Certificate& certificate, int bits) {
  certificate.scale_log2 -= bits;
  const auto coarsen_each = [&](model::Resources& price) {
    for (std::size_t r = 0; r < model::kResources; ++r) price[r] >>= bits;
  };
  for (auto& p : certificate.pools) {
    p.gpu_milli >>= bits;
    coarsen_each(p.unit_price);
  }
  for (auto& s : certificate.shapes) s.price >>= bits;
  for (auto& m : certificate.multipliers) coarsen_each(m.unit_price);
  for (auto& j : certificate.jobs) j.price >>= bits;
  for (auto& l : certificate.limits) l.price >>= bits;
  for (auto& g : certificate.gangs) g.price >>= bits;
  certificate.whole_jobs.gpu_milli >>= bits;
}

/// The sum over all ranks, on rank 0; empty elsewhere.
template <class Sums>
Sums sum_of_ranks(const Communicator& comm, const Sums& mine) {
  Sums all{};
  for (const Sums& one : comm::gather<Sums>(comm, std::span(&mine, 1))) all += one;
  return all;
}

certify::JobTerms sum_of_ranks(const Communicator& comm, certify::JobTerms mine) {
  struct Sums {
    Int128 net = 0, gross = 0;
    bool integral = true;
    Sums& operator+=(const Sums& others) {
      net += others.net;
      gross += others.gross;
      integral = integral && others.integral;
      return *this;
    }
  };
  const Sums all = sum_of_ranks(comm, Sums{mine.net, mine.gross, mine.integral});
  return {all.net, all.gross, all.integral, comm.gather_varying<certify::JobChoice>(mine.choices),
          comm.gather_varying<certify::StayItem>(mine.stays)};
}

certify::PlacementSums sum_of_ranks(const Communicator& comm, certify::PlacementSums mine) {
  mine.gain = sum_of_ranks(comm, mine.gain);
  comm.sum_to_root(std::span(&mine.gpu_milli, 1));
  comm.sum_to_root(std::span(&mine.jobs, 1));
  comm.sum_to_root(mine.quotas);
  comm.sum_to_root(mine.spare);
  return mine;
}

}  // namespace

DistributedJudge::DistributedJudge(const Communicator& comm, const model::InstanceView& instance,
                                   model::Objective objective, std::span<const JobId> jobs)
    : comm_(comm), instance_(instance), objective_(objective), jobs_(jobs) {
  facts_ = sum_of_ranks(
      comm_, comm_.agreed([&] { return certify::job_facts(instance, objective, jobs); }));
  comm::broadcast(comm_, facts_);  // what exclusive jobs pay depends on the tasks of all jobs
}

DistributedJudge DistributedJudge::with_homes(std::span<const JobId> jobs) const {
  DistributedJudge other = *this;
  other.jobs_ = jobs;
  return other;
}

model::Certificate DistributedJudge::fitted(model::Certificate certificate) const {
  constexpr int kStep = 4;     // bits of a step; chosen, not tuned
  constexpr int kLeast = -60;  // least usable scale_log2; untuned guard
  BERTH_EXPECT(certificate.tree.empty());
  while (certificate.scale_log2 - kStep >= kLeast &&
         !certify::unusable(instance_, objective_, certificate, facts_).empty()) {
    coarsen(certificate, kStep);
  }
  return certificate;
}

void DistributedJudge::expect_usable(const Certificate& certificate) const {
  if (comm_.rank() != 0) return;
  BERTH_EXPECT(certify::unusable(instance_, objective_, certificate, facts_).empty());
  if (certificate.jobs.empty() && certificate.search_steps == 0) return;
  BERTH_EXPECT(jobs_.size() == model::planned_jobs(instance_.workload).size());
}

DistributedJudge::JudgedJobs DistributedJudge::evaluate(const Certificate& certificate,
                                                        const model::Placement& placement) const {
  JudgedJobs evaluation{.prices = broadcast_prices(comm_, certificate),
                        .bests = {},
                        .bound = {},
                        .choices = {},
                        .stays = {}};
  comm_.agreed([&] { expect_usable(evaluation.prices); });
  certify::JobTerms terms;
  std::vector<JobId> required;  // of all jobs, if jobs have prices
  comm_.agreed([&] {
    required = certify::required_placed(instance_, {jobs_, placement});
    evaluation.bests = certify::job_bests(instance_, objective_, evaluation.prices, facts_, jobs_);
    terms = certify::job_terms(instance_, evaluation.prices, jobs_, evaluation.bests, required);
  });
  terms = sum_of_ranks(comm_, std::move(terms));
  comm_.agreed_on_root([&] {
    evaluation.bound =
        certify::upper_bound(instance_, objective_, evaluation.prices, facts_, terms, required);
  });
  comm_.broadcast_value(evaluation.bound);
  evaluation.choices = std::move(terms.choices);
  evaluation.stays = std::move(terms.stays);
  return evaluation;
}

certify::Bound DistributedJudge::bound(const Certificate& certificate,
                                       const model::Placement& placement) const {
  return evaluate(certificate, placement).bound;
}

DistributedJudge::ChoiceBound DistributedJudge::choice_bound(const Certificate& certificate) const {
  JudgedJobs evaluation = evaluate(certificate, {});
  std::ranges::sort(evaluation.choices, {}, &certify::JobChoice::job);  // one order on any ranks
  return {evaluation.bound, std::move(evaluation.choices)};
}

std::vector<JobId> DistributedJudge::staying_jobs(const Certificate& certificate) const {
  const JudgedJobs evaluation = evaluate(certificate, {});
  std::vector<JobId> jobs;
  comm_.agreed_on_root([&] {
    jobs =
        certify::staying_jobs(instance_, objective_, evaluation.prices, facts_, evaluation.stays);
  });
  return jobs;
}

double DistributedJudge::objective(const model::Placement& placement) const {
  const auto sums = sum_of_ranks(comm_, comm_.agreed([&] {
    return certify::placement_sums(instance_, objective_, placement);
  }));
  double value = certify::objective(instance_, objective_, sums).value;
  comm_.broadcast_value(value);
  return value;
}

Assessment DistributedJudge::judge(const Certificate& certificate,
                                   const model::Placement& placement) const {
  const JudgedJobs evaluation = evaluate(certificate, placement);
  const certify::JobSubset part{jobs_, placement};
  certify::PlacementSums placed;
  certify::GapSums gaps;
  std::vector<JobId> missing;
  comm_.agreed([&] {
    placed = certify::placement_sums(instance_, objective_, placement);
    gaps = certify::job_gaps(instance_, objective_, part, evaluation.prices, facts_,
                             evaluation.bests, evaluation.bound);
    missing = certify::required_missing(instance_, part);
  });
  placed = sum_of_ranks(comm_, std::move(placed));
  gaps = sum_of_ranks(comm_, gaps);
  Assessment assessment{
      .figures = {}, .gap_parts = {}, .required_missing = comm_.gather_varying<JobId>(missing)};
  comm_.agreed_on_root([&] {
    std::ranges::sort(assessment.required_missing);
    assessment.figures = certify::figures(instance_, objective_, placed, evaluation.bound);
    assessment.gap_parts = certify::gap_parts(
        instance_, objective_, evaluation.prices,
        {facts_, placed, evaluation.bound, assessment.figures, evaluation.stays}, gaps);
  });
  return assessment;
}

}  // namespace berth::pipeline
