// SPDX-License-Identifier: Apache-2.0
#include "wait.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>

#include <sched.h>
#include <time.h>

#include "berth/comm/environment.hpp"
#include "berth/comm/error.hpp"

namespace berth::comm {
namespace {

std::atomic<bool> own_core{false};

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

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw MpiError(call, code, std::string(text.data(), static_cast<std::size_t>(length)));
}

void stay_awake(bool yes) { own_core = yes; }

void wait(MPI_Request& request, const char* call) {
  constexpr int kEnough = 1 << 20;  // attempts; guard: the sleep is longest long before
  const auto sleepy = std::chrono::steady_clock::now() + (own_core ? kAwake : kAwake * 0);
  for (int attempt = 0;; attempt = std::min(attempt + 1, kEnough)) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
    if (done != 0) return;
    if (attempt >= kSpins && std::chrono::steady_clock::now() < sleepy) attempt = kSpins;
    back_off(attempt);
  }
}

void wait_long(MPI_Request& request, const char* call) {
  constexpr timespec kPause{0, 10'000'000};  // 10 ms; chosen, not tuned
  while (true) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
    if (done != 0) return;
    nanosleep(&kPause, nullptr);
  }
}

}  // namespace berth::comm
