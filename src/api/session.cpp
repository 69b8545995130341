// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <memory>

#include "berth/berth.hpp"
#include "berth/comm/environment.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth {

/// In this order: PETSc needs MPI. Either is null where the program has its own.
struct Session::Parts {
  std::unique_ptr<comm::Environment> mpi;
  std::unique_ptr<solver::PetscSession> petsc;
};

Session::Session() : parts_(std::make_unique<Parts>()) {
  if (comm::Environment::ended()) {
    throw SystemError(
        "MPI has ended in this process and cannot start again: plan before it ends, or keep one "
        "berth::Session alive for all plans");
  }
  if (!comm::Environment::active()) parts_->mpi = std::make_unique<comm::Environment>();
  if (!solver::PetscSession::active()) parts_->petsc = std::make_unique<solver::PetscSession>();
}

Session::~Session() = default;

namespace api {

void need_session() {
  if (comm::Environment::active() && solver::PetscSession::active()) return;
  static const Session session;  // PETSc cannot start a second time, so it stays
}

}  // namespace api
}  // namespace berth
