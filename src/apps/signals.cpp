// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <csignal>

namespace berth::apps {
namespace {

// The only mutable global: a signal handler can set nothing else.
volatile std::sig_atomic_t came = 0;

extern "C" void remember(int) { came = 1; }

}  // namespace

const volatile std::sig_atomic_t* catch_signals() {
  struct sigaction action {};
  action.sa_handler = remember;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // when the reader of the log exits, planning continues
  return &came;
}

}  // namespace berth::apps
