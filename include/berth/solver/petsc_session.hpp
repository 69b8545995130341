// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth::solver {

/// Keeps PETSc running, on one process, while it lives: `pack` and the minimiser need one.
///
/// When MPI runs already it is used as it is, else it is started (and ended) here, so that a
/// program without mpiexec works too. PETSc sees only this process. Options of the environment
/// (PETSC_OPTIONS, PETSC_OPTIONS_YAML, .petscrc) are ignored and signals stay with the program.
/// One session per process, made and ended on the main thread: PETSc 3.18 knows no minimiser any
/// more when it is started a second time.
///
/// Threaded BLAS changes the last bits of sums, hence the plan: one thread is forced on the
/// libraries that can be told so; a threaded one that cannot throws SystemError.
class PetscSession {
 public:
  PetscSession();
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;

  [[nodiscard]] static bool active();
  [[nodiscard]] const std::string& blas() const { return blas_; }      ///< file of dgemm
  [[nodiscard]] const std::string& lapack() const { return lapack_; }  ///< file of dpotrf

 private:
  bool owns_mpi_ = false;
  std::string blas_;
  std::string lapack_;
};

}  // namespace berth::solver
