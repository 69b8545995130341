// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <csignal>
#include <string_view>

#include <unistd.h>

#include "berth/base/error.hpp"

namespace berth::apps {
namespace {

/// Seconds that MPI_Init may go on after a SIGTERM: it may wait for a rank that has ended already.
constexpr unsigned kStartSeconds = 10;  // chosen, not tuned

// The only mutable global: a signal handler can set nothing else.
volatile std::sig_atomic_t came = 0;

extern "C" void remember(int) { came = 1; }

extern "C" void remember_and_hurry(int) {
  came = 1;
  alarm(kStartSeconds);
}

extern "C" void give_up(int) {
  constexpr std::string_view kText = "berth: error: MPI did not start within 10 s of a SIGTERM\n";
  static_cast<void>(!write(STDERR_FILENO, kText.data(), kText.size()));
  _exit(static_cast<int>(ExitCode::internal_error));
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

void mask_usr1(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(how, &set, nullptr);
}

}  // namespace

void hold_signals() {
  mask_usr1(SIG_BLOCK);
  handle(SIGALRM, give_up);
  handle(SIGTERM, remember_and_hurry);
}

void release_signals() {
  handle(SIGTERM, SIG_DFL);
  alarm(0);
  handle(SIGUSR1, SIG_DFL);
  mask_usr1(SIG_UNBLOCK);
  if (came != 0) raise(SIGTERM);
}

const volatile std::sig_atomic_t* catch_signals() {
  handle(SIGTERM, remember);
  alarm(0);
  handle(SIGUSR1, remember);
  mask_usr1(SIG_UNBLOCK);
  std::signal(SIGPIPE, SIG_IGN);  // when the reader of the log exits, planning continues
  return &came;
}

}  // namespace berth::apps
