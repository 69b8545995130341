// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/base/archive.hpp"
#include "berth/horizon/problem.hpp"

/// The fields of a whole problem in time, for messages (berth/base/archive.hpp).
namespace berth::horizon {

template <class Archive>
void describe(Archive& archive, Neighbours& neighbours) {
  archive(neighbours.sets, neighbours.avoids);
}

template <class Archive>
void describe(Archive& archive, Pool& pool) {
  archive(pool.curve, pool.machines, pool.capacity, pool.parts, pool.worth);
}

template <class Archive>
void describe(Archive& archive, Problem& p) {
  archive(p.now, p.curves, p.pools, p.pool_sets, p.machines, p.outages);
  archive(p.jobs, p.options, p.task_groups, p.cost_pieces);
  archive(p.neighbours, p.spreads, p.traffics, p.place_limits);
  archive(p.quotas, p.quotas_milli, p.option_quotas, p.licenses, p.option_licenses);
  archive(p.budgets, p.option_budgets, p.budgets_end, p.dependencies);
}

}  // namespace berth::horizon
