// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shard/tenancy.hpp"

#include <cstdint>
#include <vector>

namespace berth::solver {

/// Room for one more task on a machine: what it costs beyond the tasks before it.
struct Vacancy {
  double cost = 0.0;
  MachineId machine;
  std::uint32_t rank = 0;           ///< position among the machine's vacancies
  std::vector<JobId> victims = {};  ///< beyond those of lower ranks
};

/// A job that looks for room.
struct Query {
  const Tenancy* tenancy;
  JobId job;
  const model::Job* record;
  const model::Shape* shape;
  std::int64_t tasks;
  const std::vector<JobId>* going = nullptr;  ///< who goes anyway, to make room in quotas; sorted

  [[nodiscard]] const model::Workload& workload() const {
    return tenancy->valuation().instance().workload;
  }
};

/// Vacancies of one machine for up to `limit` tasks, none dearer than `budget` in all.
void vacancies(const Query& q, MachineId m, std::int64_t limit, double budget,
               std::vector<Vacancy>& out);

}  // namespace berth::solver
