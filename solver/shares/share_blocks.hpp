// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "berth/parallel/loops.hpp"
#include "berth/solver/time_shares.hpp"

/// Sums over jobs by blocks, which threads take and which are added in order: the sums do not
/// depend on the number of threads.
namespace berth::solver {

inline constexpr std::size_t kShareBlock = 1024;  ///< jobs

template <class Term>
double sum_blocks(std::size_t jobs, const Term& term) {
  std::vector<double> sums((jobs + kShareBlock - 1) / kShareBlock);
  parallel::sweep_blocks(jobs, kShareBlock,
                         [&](std::size_t block, std::size_t begin, std::size_t end) {
                           double sum = 0.0;
                           for (std::size_t j = begin; j < end; ++j) sum += term(j);
                           sums[block] = sum;
                         });
  double sum = 0.0;
  for (const double of_block : sums) sum += of_block;
  return sum;
}

template <class Body>
void for_jobs(std::size_t jobs, const Body& body) {
  parallel::sweep_blocks(jobs, kShareBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) body(j);
  });
}

/// GPUs by type that the jobs use. times(job, add) calls add(type, part of the time).
template <class Times>
std::vector<double> use_of(const ShareProblem& problem, const Times& times) {
  const std::size_t types = problem.types();
  std::vector<double> sums((problem.jobs() + kShareBlock - 1) / kShareBlock * types);
  parallel::sweep_blocks(
      problem.jobs(), kShareBlock, [&](std::size_t block, std::size_t begin, std::size_t end) {
        double* const sum = sums.data() + block * types;
        for (std::size_t j = begin; j < end; ++j) {
          times(j, [&](std::size_t type, double part) { sum[type] += part * problem.gpus[j]; });
        }
      });
  std::vector<double> use(types);
  for (std::size_t i = 0; i < sums.size(); ++i) use[i % types] += sums[i];
  return use;
}

inline double progress_of(const ShareProblem& problem, std::size_t job,
                          std::span<const double> share) {
  double progress = 0.0;
  const auto rates = problem.rates_of(job);
  for (std::size_t t = 0; t < rates.size(); ++t) {
    progress += rates[t] * share[job * problem.types() + t];
  }
  return progress;
}

}  // namespace berth::solver
