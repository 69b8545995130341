// SPDX-License-Identifier: Apache-2.0
#include "petsc.hpp"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <dlfcn.h>

#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::solver {
namespace {

std::string file_of(const char* symbol) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  Dl_info found{};
  if (address == nullptr || dladdr(address, &found) == 0 || found.dli_fname == nullptr) return {};
  return found.dli_fname;
}

/// Calls `symbol(1)` if the loaded BLAS has it.
bool set_one_thread(const char* symbol) {
  using Setter = void (*)(int);
  const auto setter = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, symbol));
  if (setter == nullptr) return false;
  setter(1);
  return true;
}

void force_one_blas_thread(const std::string& blas) {
  bool set = false;
  for (const char* setter : {"openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
    set = set_one_thread(setter) || set;
  }
  if (set) return;
  for (const std::string_view threaded : {"openblas", "mkl", "blis", "atlas"}) {
    if (blas.find(threaded) != std::string::npos) {
      throw SystemError("the loaded BLAS (" + blas +
                        ") may use several threads and cannot be told not to; plans would not be "
                        "reproducible. Put a reference BLAS first in LD_LIBRARY_PATH");
    }
  }
}

void start_petsc() {
  unsetenv("PETSC_OPTIONS");  // PETSc reads it in spite of -skip_petscrc
  unsetenv("PETSC_OPTIONS_YAML");
  PETSC_COMM_WORLD = MPI_COMM_SELF;
  static char program[] = "berth";
  static char skip[] = "-skip_petscrc";
  static char signals[] = "-no_signal_handler";
  std::array<char*, 4> arguments{program, skip, signals, nullptr};
  int count = 3;
  char** argv = arguments.data();
  if (PetscInitialize(&count, &argv, nullptr, nullptr) != 0 ||
      PetscPushErrorHandler(PetscReturnErrorHandler, nullptr) != 0) {
    throw SystemError("PETSc does not start");
  }
}

}  // namespace

PetscSession::PetscSession() {
  BERTH_EXPECT(!active());
  int running = 0;
  int ended = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  if (ended != 0) throw SystemError("MPI has ended already: PETSc cannot start again");
  if (running == 0) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    owns_mpi_ = true;
  }
  start_petsc();
  blas_ = file_of("dgemm_");
  lapack_ = file_of("dpotrf_");
  force_one_blas_thread(blas_);
}

PetscSession::~PetscSession() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;  // the program ended MPI first: PETSc cannot say goodbye any more
  PetscFinalize();
  if (owns_mpi_) MPI_Finalize();
}

void PetscSession::expect_active() {
  if (active()) return;
  throw std::logic_error(
      "PETSc does not run: keep a berth::solver::PetscSession alive on the main thread while you "
      "plan, or call berth::plan (berth/berth.hpp), which makes its own");
}

bool PetscSession::active() {
  PetscBool running = PETSC_FALSE;
  PetscInitialized(&running);
  return running == PETSC_TRUE;
}

}  // namespace berth::solver
