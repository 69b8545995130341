// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::bench {

/// One scheduler in one setting, over all seeds.
struct ResultRow {
  std::string setting;  ///< what decides the result, e.g. "cap15, 20 servers"
  std::string scheduler;
  std::string metric;  ///< with unit, e.g. "makespan, slots"
  std::vector<double> by_seed;
};

struct ExperimentOptions {
  std::size_t seeds = 30;
  bool smoke = false;  ///< the smallest setting that runs all code, in about a second
  /// Gets all rows so far whenever a setting (of ONES: a seed) has ended, so that a run that is cut
  /// keeps them.
  std::function<void(std::span<const ResultRow>)> keep = {};

  void ended(std::span<const ResultRow> rows) const {
    if (keep) keep(rows);
  }
};

/// The comparison of one paper. Rows of one setting and metric are compared in pairs with the first
/// of them.
struct Experiment {
  std::string_view name;  ///< as in docs/papers.md, e.g. "sjf-bco"
  std::string_view help;
  std::size_t seeds;  ///< of docs/papers.md
  std::vector<ResultRow> (*run)(const ExperimentOptions& options);
};

std::vector<ResultRow> run_pd_ors(const ExperimentOptions& options);
std::vector<ResultRow> run_gadget(const ExperimentOptions& options);
std::vector<ResultRow> run_gadget_figures(const ExperimentOptions& options);
std::vector<ResultRow> run_slaq(const ExperimentOptions& options);
std::vector<ResultRow> run_strads(const ExperimentOptions& options);
std::vector<ResultRow> run_sjf_bco(const ExperimentOptions& options);
std::vector<ResultRow> run_sjf_bco_figures(const ExperimentOptions& options);
std::vector<ResultRow> run_smd(const ExperimentOptions& options);
std::vector<ResultRow> run_ones(const ExperimentOptions& options);
std::vector<ResultRow> run_coded(const ExperimentOptions& options);
std::vector<ResultRow> run_complexity(const ExperimentOptions& options);

/// One row of the table each; the order of docs/papers.md.
std::span<const Experiment> experiments();

/// Comma-separated: setting, metric, scheduler, seeds, mean, half width of its 95 % interval,
/// paired difference to the first scheduler of the setting, its half width, ratio of means.
std::string csv_of(std::span<const ResultRow> rows);

/// The same as a Markdown table.
std::string markdown_of(std::span<const ResultRow> rows);

/// Ratios of means by setting as a bar chart, for gnuplot.
std::string plot_of(std::string_view name, std::span<const ResultRow> rows);

}  // namespace berth::bench
