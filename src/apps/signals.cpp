// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "berth/base/error.hpp"

namespace berth::apps {
namespace {

/// Seconds that MPI_Init may take: it may wait for a rank that ended while the system loaded it,
/// or for a launcher that a signal in its first milliseconds made deaf.
/// BERTH_START_SECONDS replaces it, 0: no limit. Chosen: a minute is usual for thousands of ranks.
constexpr unsigned kStartSeconds = 300;
/// Fewer for few ranks, so that nobody waits five minutes for four: these, and 1 s for every
/// kRanksPerSecond ranks, up to kStartSeconds. Chosen: 4 ranks start within 0.2 s.
constexpr unsigned kStartSecondsOfFew = 25;
constexpr unsigned kRanksPerSecond = 4;
/// Seconds that MPI_Init may go on after a SIGTERM.
constexpr unsigned kSecondsAfterSignal = 10;  // chosen, not tuned

// The only mutable global: a signal handler can set nothing else.
volatile std::sig_atomic_t came = 0;

extern "C" void remember(int) { came = 1; }

extern "C" void remember_and_hurry(int) {
  came = 1;
  const unsigned left = alarm(kSecondsAfterSignal);
  if (left > 0 && left < kSecondsAfterSignal) alarm(left);
}

extern "C" void give_up(int) {
  constexpr std::string_view kSignal = "berth: error: MPI did not start within 10 s of a SIGTERM\n";
  constexpr std::string_view kSlow =
      "berth: error: MPI did not start in time (BERTH_START_SECONDS); a rank may have ended while "
      "it was loaded, or a signal have reached the launcher as it began\n";
  const std::string_view text = came != 0 ? kSignal : kSlow;
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  _exit(static_cast<int>(ExitCode::internal_error));
}

/// The first Ctrl-C asks for the plan found so far, the second ends the program.
extern "C" void remember_once(int number) {
  came = 1;
  std::signal(number, SIG_DFL);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

/// The number that a variable of the environment holds, whole and not negative.
std::optional<unsigned> number_in(const char* variable) {
  const char* const told = std::getenv(variable);
  if (told == nullptr) return std::nullopt;
  const std::string_view digits(told);
  unsigned number = 0;
  const auto [end, fault] = std::from_chars(digits.begin(), digits.end(), number);
  if (fault != std::errc{} || end != digits.end()) return std::nullopt;
  return number;
}

constexpr unsigned seconds_for(unsigned ranks) {
  return std::min(kStartSeconds, kStartSecondsOfFew + ranks / kRanksPerSecond);
}
static_assert(seconds_for(4) == 26 && seconds_for(400) == 125 &&
              seconds_for(4000) == kStartSeconds);

unsigned start_seconds() {
  if (const std::optional<unsigned> told = number_in("BERTH_START_SECONDS")) return *told;
  const std::optional<unsigned> ranks = number_in("PMI_SIZE");  // MPICH's and Slurm's launchers
  return ranks ? seconds_for(*ranks) : kStartSeconds;
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
  alarm(start_seconds());
}

void mpi_has_started() {
  handle(SIGTERM, remember);
  alarm(0);
}

void release_signals() {
  handle(SIGTERM, SIG_DFL);
  handle(SIGUSR1, SIG_DFL);
  mask_usr1(SIG_UNBLOCK);
  if (came != 0) raise(SIGTERM);
}

const volatile std::sig_atomic_t* catch_signals() {
  handle(SIGTERM, remember);
  handle(SIGUSR1, remember);
  // a program in the background of a script ignores Ctrl-C: let it
  if (std::signal(SIGINT, SIG_IGN) != SIG_IGN) handle(SIGINT, remember_once);
  mask_usr1(SIG_UNBLOCK);
  std::signal(SIGPIPE, SIG_IGN);  // when the reader of the log exits, planning continues
  return &came;
}

}  // namespace berth::apps
