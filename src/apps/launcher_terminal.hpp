// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::apps {

/// True when an mpiexec on this machine started this process and its own stderr is a terminal: the
/// stderr of ranks is a pipe that it reads. Linux only (/proc); srun on another machine: false.
bool launcher_has_terminal();

}  // namespace berth::apps
