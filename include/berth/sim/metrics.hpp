// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/model/instance.hpp"
#include "berth/model/run_record.hpp"

namespace berth::sim {

/// Figures of a simulation, by the formulas of docs/metrics.md. Percentiles are the value of rank
/// ceil(p n). All are 0 when no job finished. @param records  by JobId
/// O(n log n + runs log runs)
model::RunFigures figures(const model::InstanceView& instance,
                          std::span<const model::JobRecord> records);

}  // namespace berth::sim
