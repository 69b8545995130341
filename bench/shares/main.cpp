// SPDX-License-Identifier: Apache-2.0
// shares_bench [JOBS]: max-min shares of time on Gavel's three GPU types, seeds 1 .. 5: least
// progress, the bound that prices prove, CPU seconds; and the same with the jobs in 16 random parts
// of a sixteenth of the GPUs (POP: Narayanan et al., SOSP 2021). Jobs are drawn from the
// measurements of Gavel in BERTH_TRACES; a job's rate is its throughput over that of equal shares.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "berth/base/random.hpp"
#include "berth/solver/time_shares.hpp"

namespace {

using namespace berth;
using solver::ShareProblem;

constexpr double kAskedFor = 2.0;  ///< GPUs of all jobs over GPUs present
constexpr std::size_t kParts = 16;

/// Iterations a second of a job type on so many GPUs of each type, alone; all above 0.
struct Measured {
  double gpus;
  std::vector<double> throughput;
};

std::vector<Measured> read_measurements(const std::string& path) {
  const std::vector<std::string> types{"v100", "p100", "k80"};
  std::ifstream file(path);
  const nlohmann::json all = nlohmann::json::parse(file);
  std::vector<Measured> measured;
  for (const auto& [name, row] : all.at(types.front()).items()) {
    const double gpus = std::stod(name.substr(name.rfind(", ") + 2));
    Measured one{gpus, {}};
    for (const std::string& type : types) {
      if (!all.at(type).contains(name)) continue;
      const double rate = all.at(type).at(name).at("null").get<double>();
      if (rate > 0.0) one.throughput.push_back(rate);
    }
    if (one.throughput.size() == types.size()) measured.push_back(std::move(one));
  }
  return measured;
}

ShareProblem draw(const std::vector<Measured>& measured, std::size_t jobs, std::uint64_t seed) {
  ShareProblem problem;
  double gpus = 0.0;
  for (std::size_t j = 0; j < jobs; ++j) {
    const Measured& of = measured[random_below(measured.size(), {seed, j, 0})];
    double equal = 0.0;
    for (const double rate : of.throughput) equal += rate / 3.0;
    for (const double rate : of.throughput) problem.rate.push_back(rate / equal);
    problem.gpus.push_back(of.gpus);
    gpus += of.gpus;
  }
  problem.capacity.assign(3, gpus / kAskedFor / 3.0);
  return problem;
}

/// The least progress of all parts, each with its share of every type.
double least_of_parts(const ShareProblem& problem, std::uint64_t seed) {
  std::vector<ShareProblem> parts(kParts);
  for (std::size_t j = 0; j < problem.jobs(); ++j) {
    ShareProblem& part = parts[random_below(kParts, {seed, j, 1})];
    part.gpus.push_back(problem.gpus[j]);
    const auto rates = problem.rates_of(j);
    part.rate.insert(part.rate.end(), rates.begin(), rates.end());
  }
  double least = 1e300;
  for (ShareProblem& part : parts) {
    for (const double c : problem.capacity) part.capacity.push_back(c / kParts);
    least = std::min(least, solver::max_min_shares(part).value);
  }
  return least;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int argc, char** argv) {
  const char* traces = std::getenv("BERTH_TRACES");
  if (traces == nullptr) {
    std::fputs("set BERTH_TRACES to the folder of the traces\n", stderr);
    return 2;
  }
  const std::size_t jobs = argc > 1 ? std::stoul(argv[1]) : 16'384;
  const auto measured =
      read_measurements(std::string(traces) + "/profiles/gavel/simulation_throughputs.json");
  fmt::print("{} jobs of {} measured, {} GPUs asked for / present\n", jobs, measured.size(),
             kAskedFor);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ShareProblem problem = draw(measured, jobs, seed);
    const double begin = cpu_seconds();
    const solver::TimeShares whole = solver::max_min_shares(problem);
    const double middle = cpu_seconds();
    const double parts = least_of_parts(problem, seed);
    fmt::print(
        "seed {}: least {:.6f}, gap {:.4f} %, {} columns, {:.3f} CPU s; {} parts {:.4f} % below "
        "the bound, {:.3f} CPU s\n",
        seed, whole.value, 100.0 * whole.gap(), whole.columns, middle - begin, kParts,
        100.0 * (1.0 - parts / whole.bound), cpu_seconds() - middle);
  }
  return 0;
}
