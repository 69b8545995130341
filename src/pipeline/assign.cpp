// SPDX-License-Identifier: Apache-2.0
#include "assign.hpp"

namespace berth::pipeline {

coordinator::Assignment assign(const PlanningContext& context, coordinator::JobRecords& records,
                               const GlobalRelaxation& relaxation) {
  return context.stages.run("assign", [&] {
    return coordinator::assign(context.comm, decompose(context, relaxation), records,
                               run_context(context, relaxation));
  });
}

}  // namespace berth::pipeline
