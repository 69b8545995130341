// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task_rows.hpp"

#include <span>

#include "berth/solver/configuration_lp.hpp"

namespace berth::solver {

/// The configuration LP as if the machines of a GPU type shared their GPUs and resources: a row is
/// the GPUs, or one resource, of a type, so their number does not grow with the shapes, and the
/// more shapes there are, the less this loses. Its prices are given by task and as multipliers; it
/// has no configurations and no options, and its bound is its value. Limits keep their first
/// prices. Tasks without GPUs are free of charge.
/// @param rows  of the tasks: their prices; @param jobs  ascending group
/// O(steps x (rows^3 + options x resources^2)). @pre a PetscSession exists
ConfigurationSolution solve_resource_lp(const model::InstanceView& instance,
                                        std::span<const BinType> bins, JobCounts jobs,
                                        const TaskRows& rows, const ConfigurationStart& start,
                                        const ConfigurationOptions& options, const StopToken& stop);

}  // namespace berth::solver
