// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/cores.hpp"

#include <iterator>

#include "berth/comm/environment.hpp"
#include "berth/comm/patterns.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::pipeline {

int share_cores(const comm::Communicator& comm, int asked) {
  const auto cores = parallel::bound_cores();
  const int ranks = comm::ranks_sharing(comm, cores);
  const int threads = asked > 0 ? asked : parallel::default_threads(ranks);
  comm::stay_awake(ranks * threads <= std::ssize(cores));
  return threads;
}

}  // namespace berth::pipeline
