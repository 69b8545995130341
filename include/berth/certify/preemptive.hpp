// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::certify {

/// Proves a lower bound on the cost of every schedule of the jobs that may stop, resume and move
/// them for nothing, in integers, from prices that are constant on each interval. A job runs on one
/// pool at a time, and asks there for the GPUs of the option; running for an option's duration is
/// all of its work.
///
///   LB = sum_j min over completions C of [ cost_j(C) + R_j(C) ] - sum_p integral lambda_p C_p
///
/// R_j(C) is the least rent of the job's work before C. For any price mu >= 0 of all of its work,
///
///   R_j(C) >= mu - integral over [release, C) of max(0, max over options o of mu / d_o - rent_o),
///
/// since an instant on option o does 1 / d_o of the work. Between two nodes both sides are linear
/// in C, so the ends of intervals suffice, each interval with a mu of its own.
///
/// Sums are exact; mu / d is rounded up, rents of jobs and the result are rounded down.
/// O(jobs x intervals x steps of mu). Uses threads.
/// @throws InputError: slopes, shares or sizes in the certificate; jobs that may be left out or
///         have deadlines, more than one piece of cost, quotas or budgets
double prove_preemptive(const horizon::Problem& problem,
                        const horizon::PriceCertificate& certificate);

}  // namespace berth::certify
