// SPDX-License-Identifier: Apache-2.0
// Tuned constants: options of the library that the command line does not show. A decision is a page
// of docs/decisions.
#include "option_rows.hpp"

namespace berth::pipeline::rows {
namespace {

using coordinator::RoundOptions;
using solver::BranchOptions;
using solver::DiveOptions;
using solver::ExactSearchOptions;
using solver::JobPriceOptions;
using solver::OnlineOptions;
using solver::PackOptions;
using solver::PriceOptions;
using solver::RepackOptions;
using solver::RequiredJobRepairOptions;
using solver::SearchEffort;
using solver::ShardOptions;

std::vector<OptionRecord> coordination() {
  return {
      {.name = "rounds.blocks",
       .field = field<&PlanOptions::rounds, &RoundOptions::blocks>(),
       .unit = "jobs",
       .range = {.least = 1},
       .help = "Offers of a round in all, at most"},
      {.name = "rounds.claim",
       .field = field<&PlanOptions::rounds, &RoundOptions::claim>(),
       .unit = "share of a shard's GPUs",
       .range = {.least = 0, .most = 1, .above_least = true},
       .help = "What the grants of one round may ask a shard for; the largest bid on it is always "
               "allowed (decision 2)"},
      {.name = "rounds.theta",
       .field = field<&PlanOptions::rounds, &RoundOptions::theta>(),
       .unit = "share of the bid",
       .range = {.least = 0, .most = 1, .below_most = true},
       .help = "What a grant may lose to others before it (decision 2)"},
      {.name = "rounds.tabu-rounds",
       .field = field<&PlanOptions::rounds, &RoundOptions::tabu_rounds>(),
       .unit = "rounds",
       .range = {0, kMost},
       .help = "A refused pair of job and shard is not tried again for so long (decision 2)"},
      {.name = "rounds.least-gain",
       .field = field<&PlanOptions::rounds, &RoundOptions::least_gain>(),
       .unit = "fraction of the objective",
       .range = {-1, 1},
       .help = "Stop after two rounds that gain less; -1 = never"},
      {.name = "rounds.least-regroup-gain",
       .field = field<&PlanOptions::rounds, &RoundOptions::least_regroup_gain>(),
       .unit = "fraction of the objective",
       .range = {-1, 1},
       .help = "Stop after two regroup rounds that gain less; -1 = never"},
      {.name = "rounds.sampling-floor",
       .field =
           field<&PlanOptions::rounds, &RoundOptions::selection, &strads::ScheduleOptions::floor>(),
       .unit = "share of the mean importance",
       .range = {.least = 0, .above_least = true},
       .help = "Added to every importance when offers are sampled (decision 5)"},
  };
}

std::vector<OptionRecord> relaxation() {
  return {
      {.name = "prices.type-eps",
       .field = field<&PlanOptions::prices, &PriceOptions::type_eps>(),
       .unit = "fraction of the price scale per GPU",
       .range = {.least = 0, .most = 1, .above_least = true},
       .help = "Smoothings of the dual with one price per GPU type, falling (decision 12)"},
      {.name = "prices.pool-eps",
       .field = field<&PlanOptions::prices, &PriceOptions::pool_eps>(),
       .unit = "fraction of the price scale per GPU",
       .range = {.least = 0, .most = 1, .above_least = true},
       .help = "Smoothings of the dual with one price per pool, falling (decision 12)"},
      {.name = "prices.type-iterations",
       .field = field<&PlanOptions::prices, &PriceOptions::type_iterations>(),
       .range = {1, kMost},
       .help = "Of the minimiser per smoothing, with one price per GPU type"},
      {.name = "prices.pool-iterations",
       .field = field<&PlanOptions::prices, &PriceOptions::pool_iterations>(),
       .range = {1, kMost},
       .help = "Of the minimiser per smoothing, with one price per pool (decision 9)"},
      {.name = "prices.patience",
       .field = field<&PlanOptions::prices, &PriceOptions::patience>(),
       .unit = "iterations",
       .range = {0, kMost},
       .help = "A smoothing ends when so many iterations gained less than prices.least-gain; 0 = "
               "never"},
      {.name = "prices.least-gain",
       .field = field<&PlanOptions::prices, &PriceOptions::least_gain>(),
       .unit = "share of the dual value",
       .range = {.least = 0, .most = 1},
       .help = "See prices.patience"},
      {.name = "prices.memory",
       .field = field<&PlanOptions::prices, &PriceOptions::memory>(),
       .unit = "steps",
       .range = {0, kMost},
       .help =
           "Steps that the curvature of the minimiser is made of (decision 12); 0 = as PETSc does"},
  };
}

std::vector<OptionRecord> local_search() {
  return {
      {.name = "shard.sweeps",
       .field = field<&PlanOptions::shard, &ShardOptions::sweeps>(),
       .range = {0, kMost},
       .help = "Depth of the ejection search of a shard after each round"},
      {.name = "dive.eps",
       .field = field<&PlanOptions::shard, &ShardOptions::dive, &DiveOptions::eps>(),
       .unit = "fraction of the price scale per GPU",
       .range = {.least = 0, .most = 1, .above_least = true},
       .help = "Smoothing of the market that is rounded"},
      {.name = "dive.passes",
       .field = field<&PlanOptions::shard, &ShardOptions::dive, &DiveOptions::passes>(),
       .range = {1, kMost},
       .help = "Solves of the smoothed dual per size class of jobs"},
      {.name = "dive.iterations",
       .field = field<&PlanOptions::shard, &ShardOptions::dive, &DiveOptions::iterations>(),
       .range = {1, kMost},
       .help = "Of the minimiser per such solve"},
      {.name = "dive.decided",
       .field = field<&PlanOptions::shard, &ShardOptions::dive, &DiveOptions::decided>(),
       .unit = "softmax weight",
       .range = {.least = 0.5, .most = 1, .above_least = true},
       .help = "Weight from which a job is fixed"},
      {.name = "dive.last-decided",
       .field = field<&PlanOptions::shard, &ShardOptions::dive, &DiveOptions::last_decided>(),
       .unit = "softmax weight",
       .range = {.least = 0, .most = 1, .above_least = true},
       .help = "The same in the last pass of a size class"},
      {.name = "dive.chains",
       .field = field<&PlanOptions::shard, &ShardOptions::dive, &DiveOptions::effort,
                      &SearchEffort::chains>(),
       .range = {0, kMost},
       .help = "Ejection chains tried after a dive, at most"},
      {.name = "dive.repartitions",
       .field = field<&PlanOptions::shard, &ShardOptions::dive, &DiveOptions::effort,
                      &SearchEffort::repartitions>(),
       .range = {0, kMost},
       .help = "Machines repartitioned after a dive, at most"},
  };
}

std::vector<OptionRecord> patterns() {
  return {
      {.name = "pack.relaxation-share",
       .field = field<&PlanOptions::shard, &ShardOptions::pack, &PackOptions::relaxation_share>(),
       .unit = "share of the gap",
       .range = {.least = 0, .most = 1, .above_least = true},
       .help = "To which the linear relaxation of the pattern LP is solved"},
      {.name = "pack.pricing-rounds",
       .field = field<&PlanOptions::shard, &ShardOptions::pack, &PackOptions::pricing_rounds>(),
       .range = {1, kMost},
       .help = "Rounds of column generation, at most"},
      {.name = "pack.neighbourhoods",
       .field = field<&PlanOptions::shard, &ShardOptions::pack, &PackOptions::neighbourhoods>(),
       .range = {0, kMost},
       .help = "Local searches after the dive over patterns, at most"},
      {.name = "pack.neighbourhood-machines",
       .field =
           field<&PlanOptions::shard, &ShardOptions::pack, &PackOptions::neighbourhood_machines>(),
       .unit = "machines",
       .range = {1, kMost},
       .help = "Machines freed in each of them"},
      {.name = "pack.job-types",
       .field = field<&PlanOptions::shard, &ShardOptions::pack, &PackOptions::job_types>(),
       .range = {1, kMost},
       .help = "Aim: beyond it, jobs of one shape and unequal value share a type"},
      {.name = "pack.bin-types",
       .field = field<&PlanOptions::shard, &ShardOptions::pack, &PackOptions::bin_types>(),
       .range = {1, kMost},
       .help = "Aim: free CPU and memory are rounded down above it"},
      {.name = "pack.work",
       .field = field<&PlanOptions::shard, &ShardOptions::pack, &PackOptions::work>(),
       .unit = "contents of machines compared",
       .range = {.least = 0},
       .help = "Work of the pattern LP, about, at most; counted, not timed"},
      {.name = "repack.idle",
       .field = field<&PlanOptions::shard, &ShardOptions::repack, &RepackOptions::idle>(),
       .unit = "share of the shard's GPUs",
       .range = {.least = 0, .most = 1},
       .help = "GPUs idle and asked for by single tasks, from which these are packed anew "
               "(decision 22)"},
      {.name = "repack.gap",
       .field = field<&PlanOptions::shard, &ShardOptions::repack, &RepackOptions::gap>(),
       .unit = "fraction",
       .range = {.least = 0, .most = 1, .below_most = true},
       .help = "To which single tasks beside gangs are packed, at best (decision 22)"},
      {.name = "repack.neighbourhoods",
       .field = field<&PlanOptions::shard, &ShardOptions::repack, &RepackOptions::neighbourhoods>(),
       .range = {0, kMost},
       .help = "As pack.neighbourhoods, beside gangs"},
      {.name = "repack.work",
       .field = field<&PlanOptions::shard, &ShardOptions::repack, &RepackOptions::work>(),
       .unit = "contents of machines compared",
       .range = {.least = 0},
       .help = "As pack.work, beside gangs"},
      {.name = "repack.work-per-gpu",
       .field = field<&PlanOptions::shard, &ShardOptions::repack, &RepackOptions::work_per_gpu>(),
       .unit = "contents of machines compared",
       .range = {.least = 0},
       .help = "No more than so much for each GPU of the shard"},
  };
}

std::vector<OptionRecord> special_cases() {
  return {
      {.name = "required-job-repair.machines",
       .field = field<&PlanOptions::required_job_repair, &RequiredJobRepairOptions::machines>(),
       .unit = "machines",
       .range = {.least = 0},
       .help = "Clusters up to this size are searched for places of required jobs left out"},
      {.name = "required-job-repair.steps",
       .field = field<&PlanOptions::required_job_repair, &RequiredJobRepairOptions::steps>(),
       .unit = "placements",
       .range = {0, kMost},
       .help = "Tried for required jobs in that search, at most"},
      {.name = "exact.gpus",
       .field = field<&PlanOptions::exact, &ExactSearchOptions::gpus>(),
       .unit = "GPUs",
       .range = {.least = 0},
       .help = "Clusters up to this size are searched by branch and bound (decision 28)"},
      {.name = "exact.jobs",
       .field = field<&PlanOptions::exact, &ExactSearchOptions::jobs>(),
       .unit = "jobs",
       .range = {.least = 0},
       .help = "Not with more jobs than this"},
      {.name = "exact.few-jobs",
       .field = field<&PlanOptions::exact, &ExactSearchOptions::few_jobs>(),
       .unit = "jobs",
       .range = {.least = 0},
       .help = "So few are searched on clusters of up to twice exact.gpus (decision 33)"},
      {.name = "exact.steps",
       .field = field<&PlanOptions::exact, &ExactSearchOptions::steps>(),
       .unit = "placements",
       .range = {.least = 0},
       .help = "Tried in that search, at most; 0: no search"},
      {.name = "bound.search-steps",
       .field = field<&PlanOptions::search_steps>(),
       .unit = "tasks",
       .range = {0, 5e7},
       .help = "Tried in the judge's search of such instances, at most; 0: no search",
       .effect = Effect::proof},
      {.name = "online.gap",
       .field = field<&PlanOptions::online, &OnlineOptions::gap>(),
       .unit = "fraction",
       .range = {.least = 0, .most = 1, .below_most = true},
       .help = "To which expected jobs are packed (decision 8)"},
  };
}

std::vector<OptionRecord> proofs() {
  return {
      {.name = "job-prices.step",
       .field = field<&PlanOptions::job_prices, &JobPriceOptions::step>(),
       .unit = "share of Polyak's step",
       .range = {.least = 0, .most = 2, .above_least = true, .below_most = true},
       .help = "First subgradient step of the bound by job prices (decision 3)",
       .effect = Effect::proof},
      {.name = "job-prices.memory",
       .field = field<&PlanOptions::job_prices, &JobPriceOptions::memory>(),
       .unit = "share",
       .range = {.least = 0, .most = 1, .below_most = true},
       .help = "Of the last direction that is kept",
       .effect = Effect::proof},
      {.name = "job-prices.patience",
       .field = field<&PlanOptions::job_prices, &JobPriceOptions::patience>(),
       .unit = "evaluations",
       .range = {0, kMost},
       .help = "Without progress before the step shrinks",
       .effect = Effect::proof},
      {.name = "job-prices.shrink",
       .field = field<&PlanOptions::job_prices, &JobPriceOptions::shrink>(),
       .unit = "factor",
       .range = {.least = 0, .most = 1, .above_least = true, .below_most = true},
       .help = "Of the step then",
       .effect = Effect::proof},
      {.name = "branch.evaluations",
       .field = field<&PlanOptions::branch, &BranchOptions::evaluations>(),
       .range = {1, kMost},
       .help = "Of the dual for one leaf of the tree of cases at a time (decision 7)",
       .effect = Effect::proof},
      {.name = "branch.smallest",
       .field = field<&PlanOptions::branch, &BranchOptions::smallest>(),
       .unit = "GPUs",
       .range = {1, kMost},
       .help = "Smallest job that the tree may split",
       .effect = Effect::proof},
  };
}

}  // namespace

std::vector<OptionRecord> expert() {
  std::vector<OptionRecord> rows;
  for (auto part : {coordination, relaxation, local_search, patterns, special_cases, proofs}) {
    const std::vector<OptionRecord> more = part();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  for (OptionRecord& row : rows) row.group = OptionGroup::expert;
  return rows;
}

}  // namespace berth::pipeline::rows
