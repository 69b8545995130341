// SPDX-License-Identifier: Apache-2.0
#include "horizon/dual_tables.hpp"

#include "horizon/append_rows.hpp"

#include "berth/base/archive.hpp"
#include "berth/horizon/price_certificate.hpp"

namespace berth::solver::horizon_plan {

using berth::horizon::CurveId;
using berth::horizon::IndexRange;
using berth::horizon::MultipleOfGpus;
using berth::horizon::Option;
using berth::horizon::Problem;

namespace {

void add_class(const Problem& problem, const NearlyEqualJobs& members, Problem& result) {
  result.jobs.push_back(problem.jobs[members.job.index()]);
  IndexRange& options = result.jobs.back().options;
  options = append_rows(problem.options, options, result.options);
  for (auto k = options.begin; k < options.end; ++k) {
    Option& option = result.options[static_cast<std::size_t>(k)];
    option.cost = append_rows(problem.cost_pieces, option.cost, result.cost_pieces);
    option.quotas = append_rows(problem.option_quotas, option.quotas, result.option_quotas);
    option.budgets = append_rows(problem.option_budgets, option.budgets, result.option_budgets);
  }
}

/// What a sum reads of limits.
struct Limits {
  std::vector<CurveId> curve_of_pool;
  std::vector<MultipleOfGpus> multiples;
  std::uint64_t quotas = 0, budgets = 0;  ///< how many
};

template <class Archive>
void list_fields(Archive& archive, DualTables& t, Limits& limits) {
  Problem& p = t.problem;
  archive(p.now, p.curves, limits.curve_of_pool, limits.multiples, limits.quotas, limits.budgets);
  archive(p.pool_sets, p.budgets_end, p.jobs, p.options, p.cost_pieces, p.option_quotas,
          p.option_budgets);
  archive(t.grid, t.counts, t.ranges, t.scale.value, t.scale.gradient);
}

}  // namespace

DualTables tables_of(const Problem& problem, const PriceGrid& grid,
                     std::span<const NearlyEqualJobs> classes, std::span<const double> ranges,
                     const DualScale& scale) {
  DualTables tables{.problem = {},
                    .grid = grid,
                    .counts = {},
                    .ranges = {ranges.begin(), ranges.end()},
                    .scale = scale};
  Problem& result = tables.problem;
  result.now = problem.now;
  result.curves = problem.curves;
  result.pool_sets = problem.pool_sets;
  result.budgets_end = problem.budgets_end;
  result.quotas.resize(problem.quotas.size());
  result.budgets.resize(problem.budgets.size());
  for (const auto& of : problem.multiples) result.multiples.push_back({of.curve, of.gpus});
  for (const auto& pool : problem.pools) {
    result.pools.push_back({.curve = pool.curve, .machines = {}, .capacity = {}});
  }
  for (const NearlyEqualJobs& members : classes) {
    add_class(problem, members, result);
    tables.counts.push_back(members.count);
  }
  return tables;
}

std::string bytes_of(const DualTables& tables) {
  DualTables t = tables;
  Limits limits{.curve_of_pool = {},
                .multiples = {},
                .quotas = t.problem.quotas.size(),
                .budgets = t.problem.budgets.size()};
  for (const auto& pool : t.problem.pools) limits.curve_of_pool.push_back(pool.curve);
  for (const auto& of : t.problem.multiples) {
    limits.multiples.push_back({of.curve.index(), of.gpus});
  }
  ByteWriter writer;
  list_fields(writer, t, limits);
  return writer.take();
}

DualTables tables_from(std::string_view bytes) {
  DualTables t;
  Limits limits;
  ByteReader reader(bytes);
  list_fields(reader, t, limits);
  for (const CurveId curve : limits.curve_of_pool) {
    t.problem.pools.push_back({.curve = curve, .machines = {}, .capacity = {}});
  }
  for (const MultipleOfGpus& of : limits.multiples) {
    t.problem.multiples.push_back({CurveId(of.curve), of.gpus});
  }
  t.problem.quotas.resize(limits.quotas);
  t.problem.budgets.resize(limits.budgets);
  return t;
}

}  // namespace berth::solver::horizon_plan
