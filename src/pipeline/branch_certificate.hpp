// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/model/certificate.hpp"
#include "berth/solver/branch_and_bound.hpp"

namespace berth::pipeline {

/// The certificate with the solver's tree: of each leaf the prices that differ from those listed by
/// more than `tolerance`. @pre the solver's jobs are those listed, in this order
model::Certificate branch_certificate(model::Certificate certificate,
                                      const solver::BranchAndBoundResult& branched,
                                      double tolerance);

}  // namespace berth::pipeline
