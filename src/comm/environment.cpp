// SPDX-License-Identifier: Apache-2.0
#include "berth/comm/environment.hpp"

#include "wait.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <string_view>

#include <mpi.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "berth/base/assert.hpp"
#include "berth/comm/communicator.hpp"

namespace berth::comm {
namespace {

/// Launchers pass a rank its number in the environment: PMI (hydra, Slurm), PMIx, Open MPI.
bool launcher_in_environment() {
  constexpr std::array names{"PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
  return std::any_of(names.begin(), names.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

/// True where some launcher, known or not, may have started other ranks.
bool maybe_launched() {
  constexpr std::array prefixes{"PMI", "OMPI_", "MPI", "HYD", "SLURM_", "PALS_", "FLUX_"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name(*variable);
    if (std::ranges::any_of(prefixes, [&](const char* p) { return name.starts_with(p); })) {
      return true;
    }
  }
  return false;
}

}  // namespace

Environment::Environment()
    : under_launcher_(launcher_in_environment()), exceptions_at_start_(std::uncaught_exceptions()) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  BERTH_EXPECT(initialized == 0);
  if (under_launcher_) watch_launcher();  // first: it may end while MPI starts
  // One rank talks to nobody: to look for networks would take half of the start, 20 ms.
  const bool alone = !maybe_launched() && std::getenv("UCX_TLS") == nullptr;
  if (alone) setenv("UCX_TLS", "self", 1);
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (alone) unsetenv("UCX_TLS");  // programs that this one starts may be of many ranks
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (provided < MPI_THREAD_FUNNELED) {
    throw MpiError("MPI_Init_thread", MPI_ERR_OTHER, "this MPI does not allow threads");
  }
  // The default slack turns a sleep of 20 microseconds into 70, which every late message would
  // cost.
  constexpr unsigned long kSlackNanoseconds = 1000;  // chosen, not tuned
  prctl(PR_SET_TIMERSLACK, kSlackNanoseconds);
}

Environment::~Environment() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0 || std::uncaught_exceptions() > exceptions_at_start_) return;
  try {  // MPI_Finalize would spin until the last rank arrives
    MPI_Request all = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(MPI_COMM_WORLD, &all), "MPI_Ibarrier");
    if (!wait_for_end(all, "MPI_Ibarrier")) return;
  } catch (const std::exception&) {
    return;
  }
  MPI_Finalize();
}

bool Environment::active() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized != 0 && !ended();
}

bool Environment::ended() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

std::string Environment::library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  std::string line(text.data());
  line.resize(std::min(line.find('\n'), line.size()));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

}  // namespace berth::comm
