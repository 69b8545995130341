// SPDX-License-Identifier: Apache-2.0
#include "compact.hpp"

#include <memory>

#include <glpk.h>

namespace berth::peers {

Answer solve_glpk(const Graph& graph, double time_limit) {
  const std::unique_ptr<glp_prob, void (*)(glp_prob*)> lp(glp_create_prob(), glp_delete_prob);
  glp_term_out(GLP_OFF);
  glp_set_obj_dir(lp.get(), GLP_MAX);
  glp_add_rows(lp.get(), static_cast<int>(graph.nodes()));
  for (std::size_t n = 0; n < graph.nodes(); ++n) {  // rows as in clp.cpp
    const std::size_t jobs = graph.job_gpus.size();
    const std::size_t racks = jobs + static_cast<std::size_t>(graph.hubs);
    const double upper = n < jobs    ? static_cast<double>(graph.job_gpus[n])
                         : n < racks ? 0.0
                                     : static_cast<double>(graph.rack_gpus[n - racks]);
    glp_set_row_bnds(lp.get(), static_cast<int>(n) + 1, GLP_UP, 0.0, upper);
  }
  glp_add_cols(lp.get(), static_cast<int>(graph.arcs.size()));
  for (std::size_t a = 0; a < graph.arcs.size(); ++a) {
    const Graph::Arc& arc = graph.arcs[a];
    const int column = static_cast<int>(a) + 1;
    const int rows[] = {0, arc.from + 1, arc.to + 1};  // counted from 1
    const bool from_job = static_cast<std::size_t>(arc.from) < graph.job_gpus.size();
    const double entries[] = {0.0, from_job ? 1.0 : -1.0, 1.0};
    glp_set_col_bnds(lp.get(), column, GLP_LO, 0.0, 0.0);
    glp_set_obj_coef(lp.get(), column, arc.value);
    glp_set_mat_col(lp.get(), column, 2, rows, entries);
  }
  glp_smcp how;
  glp_init_smcp(&how);
  how.msg_lev = GLP_MSG_OFF;
  how.tm_lim = static_cast<int>(time_limit * 1000.0);
  const int outcome = glp_simplex(lp.get(), &how);  // primal, steepest edge, crash basis of slacks
  return {glp_get_obj_val(lp.get()), outcome == 0 && glp_get_status(lp.get()) == GLP_OPT};
}

}  // namespace berth::peers
