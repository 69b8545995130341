// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::io::slurm {

/// A job's constraint for node features: `ib&(a100
/// h100)`, `[rack1
/// rack2]`. `&` (or a comma) and `
/// ` are evaluated from left to right, as in Slurm. With brackets, all nodes of the job must have
/// one common feature of those listed.
struct FeatureConstraint {
  std::string fault;                     ///< why it cannot be planned; empty when it can
  std::vector<std::string> same_on_all;  ///< the alternatives in brackets
};
FeatureConstraint read_features(std::string_view constraint);

/// Whether a node satisfies the constraint. @pre read_features found no fault
bool satisfies(std::string_view constraint, const std::vector<std::string>& features);

}  // namespace berth::io::slurm
