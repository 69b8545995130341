// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/run_record.hpp"

namespace berth::sim {

/// The finished jobs of a run as one problem in time that knows all arrivals: a pool of machines a
/// GPU type, seconds from the first arrival on, cost = completion - arrival. Durations are without
/// restarts and rounded down, and so are GPUs, so that no schedule of these jobs costs less than
/// the problem's best plan. Jobs that finish within a second, or take no GPU, are left out.
struct OfflineProblem {
  horizon::Problem problem;
  std::size_t finished = 0;  ///< jobs, with those left out
  /// To be added to the cost of the problem: least seconds of the jobs left out, less the parts of
  /// seconds by which jobs are released too early.
  double outside = 0.0;
};
OfflineProblem offline_problem(const model::Instance& instance,
                               std::span<const model::JobRecord> records);

struct PreemptivePriceOptions {
  int intervals = 128;   ///< of each price curve at most, >= 4
  int iterations = 200;  ///< most steps of the search
};

/// Prices, constant on each interval, that bound the cost of every schedule of a problem without
/// deadlines and left-out jobs, also of those that stop, resume and move jobs for nothing; the
/// judge proves the bound (certify::prove_preemptive). Each job buys the cheapest seconds before
/// its completion, on one GPU type at a time:
///
///   LB = sum_j min over C >= r_j + least d of cost(C) + cheapest rent of its work in [r_j, C)
///        - sum_p integral lambda_p C_p,
///
/// which is concave in the prices; steps along supergradients find a maximum.
/// @param end  when the last job may be done: prices are 0 behind it
/// O(iterations x jobs x intervals) at worst. Equal bits on any number of threads.
horizon::PriceCertificate preemptive_prices(const horizon::Problem& problem, horizon::Seconds end,
                                            const PreemptivePriceOptions& options = {});

}  // namespace berth::sim
