// SPDX-License-Identifier: Apache-2.0
#include "wait.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "berth/base/error.hpp"
#include "berth/comm/environment.hpp"
#include "berth/comm/error.hpp"

namespace berth::comm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

std::atomic<bool> own_core{false};
std::atomic<pid_t> launcher{0};  // 0: not known

// Chosen, not tuned: ranks of a machine with many times more ranks than cores part by some seconds.
constexpr seconds kOrphanWaits{10};  // for a message, without launcher
constexpr seconds kOrphanEnds{5};    // for the other ranks at the end, without launcher
constexpr seconds kEnds{30};         // the same with a launcher

/// Polling time of a rank with a core of its own: several wake-ups (about 0.1 ms each)
constexpr std::chrono::microseconds kAwake{500};
constexpr int kSpins = 8;    // attempts while an answer may be on its way; chosen, not tuned
constexpr int kYields = 32;  // attempts while another rank may have the core; chosen, not tuned
/// Sleep of a rank whose message is late: doubles every 8 attempts; chosen, not tuned.
constexpr long kFirstSleepNanoseconds = 20'000;
constexpr long kLongestSleepNanoseconds = 200'000;

/// Yields the core to other ranks, for longer with each attempt in vain.
void back_off(int attempt) {
  if (attempt < kSpins) return;
  if (attempt < kSpins + kYields) {
    sched_yield();
    return;
  }
  const int doublings = std::min((attempt - kSpins - kYields) / 8, 4);
  const timespec pause{0, std::min(kFirstSleepNanoseconds << doublings, kLongestSleepNanoseconds)};
  nanosleep(&pause, nullptr);  // a signal only shortens it
}

bool orphaned() { return launcher != 0 && getppid() != launcher; }

/// Tests the request; sleeps 10 ms when it is not complete.
bool nap(MPI_Request& request, const char* call) {
  constexpr timespec kPause{0, 10'000'000};  // chosen, not tuned
  int done = 0;
  check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
  if (done == 0) nanosleep(&kPause, nullptr);
  return done != 0;
}

void expect_launcher(Clock::time_point begun) {
  if (Clock::now() - begun < kOrphanWaits || !orphaned()) return;
  throw SystemError("the launcher has ended, and another rank does not answer");
}

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw MpiError(call, code, std::string(text.data(), static_cast<std::size_t>(length)));
}

void stay_awake(bool yes) { own_core = yes; }
void watch_launcher() { launcher = getppid(); }

void wait(MPI_Request& request, const char* call) {
  constexpr int kSecond = 4096;  // attempts, about: the sleep is longest long before
  const Clock::time_point begun = Clock::now();
  const auto sleepy = begun + (own_core ? kAwake : kAwake * 0);
  for (int attempt = 0;; ++attempt) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
    if (done != 0) return;
    if (attempt >= kSpins && Clock::now() < sleepy) attempt = kSpins;
    back_off(attempt);
    if (attempt == kSecond) {
      expect_launcher(begun);
      attempt /= 2;
    }
  }
}

void wait_long(MPI_Request& request, const char* call) {
  const Clock::time_point begun = Clock::now();
  while (!nap(request, call)) expect_launcher(begun);
}

bool wait_for_end(MPI_Request& request, const char* call) {
  const Clock::time_point begun = Clock::now();
  constexpr int kQuick = 512;  // attempts, about 0.1 s: the end of a run is not delayed by naps
  for (int attempt = 0; attempt < kQuick; ++attempt) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
    if (done != 0) return true;
    back_off(attempt);
  }
  while (!nap(request, call)) {
    if (Clock::now() - begun > (orphaned() ? kOrphanEnds : kEnds)) return false;
  }
  return true;
}

}  // namespace berth::comm
