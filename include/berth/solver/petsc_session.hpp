// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth::solver {

/// Initialises PETSc on this process and finalises it in the destructor. `pack` and the minimiser
/// require a session.
///
/// Uses MPI if it is initialised; otherwise initialises and finalises it, so that a program without
/// mpiexec works too. PETSc's communicator has this process only. Options of the environment
/// (PETSC_OPTIONS, PETSC_OPTIONS_YAML, .petscrc) are ignored, and PETSc installs no signal
/// handlers. One session per process, made and ended on the main thread: PETSc 3.18 loses its
/// minimisers when it is initialised a second time.
///
/// Threaded BLAS changes the last bits of sums and hence the plan. The session sets libraries to
/// one thread where they allow it, and throws SystemError for a threaded library that does not.
class PetscSession {
 public:
  PetscSession();
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;

  [[nodiscard]] static bool active();
  /// @throws std::logic_error that says what to do, unless a session is active
  static void expect_active();
  [[nodiscard]] const std::string& blas() const { return blas_; }      ///< file of dgemm
  [[nodiscard]] const std::string& lapack() const { return lapack_; }  ///< file of dpotrf

 private:
  bool owns_mpi_ = false;
  std::string blas_;
  std::string lapack_;
};

}  // namespace berth::solver
