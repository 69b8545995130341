// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/model/certificate.hpp"
#include "berth/solver/branch_and_bound.hpp"

namespace berth::pipeline {

/// The certificate with the solver's tree: each leaf lists the prices that differ from those of
/// `certificate.jobs` by more than `tolerance`. @pre the solver's jobs are those of
/// `certificate.jobs`, in this order
model::Certificate branch_certificate(model::Certificate certificate,
                                      const solver::BranchAndBoundResult& branched,
                                      double tolerance);

}  // namespace berth::pipeline
