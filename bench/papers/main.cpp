// SPDX-License-Identifier: Apache-2.0
/// Regenerates the comparisons of the papers (docs/papers.md): a table, a CSV file and a plot each.
#include "experiment.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "berth/solver/petsc_session.hpp"

namespace berth::bench {

std::span<const Experiment> experiments() {
  static const std::vector<Experiment> table = {
      {"pd-ors", "PD-ORS, OASiS, FIFO and DRF by total utility", 30, run_pd_ors},
      {"gadget", "GADGET against FIFO, DRF and LAS, and its slots", 30, run_gadget},
      {"gadget-figures", "GADGET: jobs embedded by GPUs and links of racks", 30,
       run_gadget_figures},
      {"slaq", "SLAQ against fair sharing of cores", 40, run_slaq},
      {"strads", "STRADS: which parameters may be updated at once", 30, run_strads},
      {"sjf-bco", "SJF-BCO against FF, LS and random GPUs on rings that share links", 40,
       run_sjf_bco},
      {"sjf-bco-figures", "SJF-BCO: thresholds, spreads, fewer servers", 30, run_sjf_bco_figures},
      {"smd", "SMD against Optimus and ESW: total utility of admitted jobs", 40, run_smd},
      {"ones", "ONES against Optimus and Tiresias", 30, run_ones},
      {"coded", "gangs that advance when k of n workers have", 30, run_coded},
      {"complexity", "growth of a decision's CPU time beside the stated bounds", 5, run_complexity},
  };
  return table;
}

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

void run(const Experiment& experiment, ExperimentOptions options,
         const std::filesystem::path& folder) {
  const std::string name(experiment.name);
  if (options.seeds == 0) options.seeds = experiment.seeds;
  options.keep = [&](std::span<const ResultRow> rows) {
    write(folder / (name + ".csv"), csv_of(rows));
    write(folder / (name + ".gp"), plot_of(name, rows));
  };
  const std::vector<ResultRow> rows = experiment.run(options);
  options.keep(rows);
  fmt::print("## {}: {}\n\n{}\n", name, experiment.help, markdown_of(rows));
  std::fflush(stdout);
}

int run_all(int argc, char** argv) {
  CLI::App app("Comparisons of published schedulers", "papers_bench");
  ExperimentOptions options{.seeds = 0};
  std::string folder = "papers";
  std::vector<std::string> names;
  app.add_option("names", names, "Experiments; none: all");
  app.add_option("--seeds", options.seeds, "Instances of each setting, else as in docs/papers.md")
      ->check(CLI::PositiveNumber);
  app.add_option("--out", folder, "Folder for CSV files and gnuplot scripts");
  app.add_flag("--smoke", options.smoke, "The smallest settings, two seeds");
  CLI11_PARSE(app, argc, argv);
  if (options.smoke) options.seeds = 2;
  for (const std::string& name : names) {
    if (std::ranges::find(experiments(), name, &Experiment::name) == experiments().end()) {
      fmt::print(stderr, "no experiment \"{}\"\n", name);
      return 2;
    }
  }
  std::filesystem::create_directories(folder);
  const solver::PetscSession session;  // one a process
  for (const Experiment& experiment : experiments()) {
    if (names.empty() || std::ranges::find(names, experiment.name) != names.end()) {
      run(experiment, options, folder);
    }
  }
  return 0;
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  try {
    return berth::bench::run_all(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
