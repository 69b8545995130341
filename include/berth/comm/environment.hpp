// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth::comm {

/// Initialises MPI at construction and finalises it at destruction (thread level FUNNELED: only the
/// main thread communicates). One per program, first in main. Without a launcher the world has one
/// rank.
///
/// After a normal run the destructor waits for the other ranks without burning their cores, 30 s at
/// most, 5 s when the launcher has ended; during an exception, or when a rank does not arrive, it
/// does not finalise MPI, so that the launcher ends ranks that would wait for ever.
class Environment {
 public:
  Environment();
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  [[nodiscard]] bool under_launcher() const { return under_launcher_; }  ///< mpiexec, srun, ...
  /// True from MPI's start to its end, by whomever.
  [[nodiscard]] static bool active();
  [[nodiscard]] static bool ended();  ///< MPI cannot start again in this process
  [[nodiscard]] static std::string library_version();                    ///< one line, for the log

 private:
  bool under_launcher_;
  int exceptions_at_start_;
};

/// States whether this rank has a core of its own. If so, it polls for half a millisecond when it
/// waits for a message, because the kernel takes about 0.1 ms to wake it. Otherwise (the default)
/// it soon yields its core to other ranks.
void stay_awake(bool own_core);

}  // namespace berth::comm
