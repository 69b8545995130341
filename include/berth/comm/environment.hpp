// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth::comm {

/// MPI between construction and destruction (thread level FUNNELED: only the main thread
/// communicates). One per program, first in main. Without a launcher the world has one rank.
///
/// Destroyed in peace, it waits for the other ranks without burning their cores; destroyed by an
/// exception it leaves MPI as it is, so that the launcher ends ranks which would wait for ever.
class Environment {
 public:
  Environment();
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  [[nodiscard]] bool under_launcher() const { return under_launcher_; }  ///< mpiexec, srun, ...
  [[nodiscard]] static std::string library_version();                    ///< one line, for the log

 private:
  bool under_launcher_;
  int exceptions_at_start_;
};

/// Whether this rank has a core of its own. Then it stays awake for half a millisecond when it
/// waits for a message: the kernel takes a tenth of one to wake it. Otherwise, and at first, it
/// soon leaves its core to the ranks it waits for.
void stay_awake(bool own_core);

}  // namespace berth::comm
