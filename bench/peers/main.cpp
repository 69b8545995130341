// SPDX-License-Identifier: Apache-2.0
// usage: berth_peers [--runs N] [--limit SECONDS] INSTANCE...     (folders of rack_placement)
// One table; every time is the median of N runs, the solvers taking turns.
#include "from_instance.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "berth/io/import.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::peers {
namespace {

struct Peer {
  std::string name, answer;
  std::function<Answer()> solve;
  Answer last = {};
  std::vector<double> seconds = {};

  [[nodiscard]] double median() const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

void run(Peer& peer) {
  // a peer that exceeds the limit is not repeated
  if (!peer.seconds.empty() && !peer.last.finished) return;
  const auto start = std::chrono::steady_clock::now();
  peer.last = peer.solve();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  peer.seconds.push_back(took.count());
}

std::vector<Peer> peers(const model::Instance& instance, const Graph& graph, double limit) {
  return {
      {"LEMON network simplex", "optimum, fractional", [&] { return solve_lemon(graph); }},
      {"Clp", "optimum, fractional", [&graph, limit] { return solve_clp(graph, limit); }},
      {"GLPK simplex", "optimum, fractional", [&graph, limit] { return solve_glpk(graph, limit); }},
      {"Berth, prices alone", "bound", [&] { return Answer{.value = bound_by_prices(instance)}; }},
      {"Berth, plan", "whole jobs", [&] { return Answer{.value = plan(instance).value}; }},
  };
}

void compare(const std::string& name, int runs, double limit) {
  const auto folder = test::bench().value_or("") / "rack_placement" / name;
  const model::Instance instance =
      io::import_rack_placement(folder / "jobs.csv", folder / "racks.csv");
  const Graph graph = compact_graph(instance);
  std::vector<Peer> all = peers(instance, graph, limit);
  for (int r = 0; r < runs; ++r) {
    for (Peer& peer : all) run(peer);
  }
  const double optimum = all.front().last.value, reference = all.front().median();
  fmt::print("\n| {} ({} arcs) | answer | value | % of the optimum | seconds | x LEMON |\n", name,
             graph.arcs.size());
  fmt::print("|---|---|---|---|---|---|\n");
  for (const Peer& p : all) {
    fmt::print("| {} | {} | {:.1f} | {:.4f} | {}{:.3f} | {:.2f} |\n", p.name,
               p.last.finished ? p.answer : "cut off", p.last.value, 100.0 * p.last.value / optimum,
               p.last.finished ? "" : "> ", p.median(), p.median() / reference);
  }
  const Planned planned = plan(instance);
  fmt::print("Certified gap of the plan: {:.4f} %\n",
             100.0 * (planned.bound - planned.value) / planned.bound);
}

}  // namespace
}  // namespace berth::peers

int main(int argc, char** argv) {
  int runs = 5;
  double limit = 60.0;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
      runs = std::stoi(argv[++i]);
    else if (std::strcmp(argv[i], "--limit") == 0 && i + 1 < argc)
      limit = std::stod(argv[++i]);
    else
      names.emplace_back(argv[i]);
  }
  if (!berth::test::bench()) {
    fmt::print("skipped: no BERTH_BENCH\n");
    return 77;
  }
  const berth::solver::PetscSession petsc;
  const berth::parallel::ThreadLimit threads(berth::parallel::default_threads(1));
  fmt::print("{} threads (Berth; the others use one), medians of {}\n",
             berth::parallel::thread_limit(), runs);
  for (const std::string& name : names) berth::peers::compare(name, runs, limit);
  return 0;
}
