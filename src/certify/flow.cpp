// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/flow.hpp"

#include "exact.hpp"
#include "job_number.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <queue>
#include <utility>

#include "berth/base/error.hpp"
#include "berth/base/int128.hpp"

namespace berth::certify {
namespace {

constexpr int kFlowTimeLog2 = 24, kFlowValueLog2 = 30;
constexpr double kLatest = 0x1p30, kMostWork = 0x1p40, kMostValue = 0x1p10;
constexpr std::int32_t kMostUnits = 1 << 20;
constexpr std::size_t kMostPieces = std::size_t{1} << 20;
constexpr double kDivisionSlack = 1e-12;  ///< of rates that were divided

void check_units(std::int32_t units) {
  if (units >= 1 && units <= kMostUnits) return;
  throw InputError({.file = "", .line = 0, .field = "units"}, "units out of range: 1 to 2^20");
}

void check_release(double release, std::size_t job) {
  expect_of_job(release >= 0.0 && release <= kLatest, "release", job,
                "has a release out of range: 0 to 2^30 s");
}

Int128 floor_over(Int128 x, Int128 y) { return x >= 0 ? x / y : -((y - 1 - x) / y); }

double divided_down(Int128 x, Int128 scale, int scale_log2) {
  return -double_up(-floor_over(x, scale), scale_log2);
}

/// One machine, one job at a time; its clock counts 2^-24 s of a unit, `units` of them at once.
/// `Job` has done(), before(other), and serve(now, until): the time at which it stopped.
template <class Job>
void run_one_machine(std::span<const Int128> releases, std::vector<Job>& jobs) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t j) { return releases[j]; });
  const auto later = [&](std::size_t a, std::size_t b) {
    if (jobs[b].before(jobs[a])) return true;
    return !jobs[a].before(jobs[b]) && a > b;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  Int128 now = 0;
  for (auto next = order.begin(); next != order.end() || !ready.empty();) {
    if (ready.empty()) now = std::max(now, releases[*next]);
    for (; next != order.end() && releases[*next] <= now; ++next) {
      if (!jobs[*next].done()) ready.push(*next);
    }
    if (ready.empty()) continue;
    const std::size_t job = ready.top();
    ready.pop();
    now = jobs[job].serve(now, next == order.end() ? kImpossible : releases[*next]);
    if (!jobs[job].done()) ready.push(job);
  }
}

/// A job with the least remaining work first.
struct Remaining {
  Int128 left = 0, end = 0;

  [[nodiscard]] bool done() const { return left == 0; }
  [[nodiscard]] bool before(const Remaining& other) const { return left < other.left; }
  Int128 serve(Int128 now, Int128 until) {
    end = std::min(now + left, until);
    left -= end - now;
    return end;
  }
};

struct EarnedPiece {
  Int128 work = 0, value = 0;  ///< work > 0
};

/// True if a earns no less by work than b.
bool no_sparser(const EarnedPiece& a, const EarnedPiece& b) {
  return a.value * b.work >= b.value * a.work;
}

/// A job of which the next piece earns most by work.
struct Earning {
  std::vector<EarnedPiece> pieces;  ///< by falling value by work
  Int128 release = 0;
  std::size_t at = 0;
  Int128 spent = 0;     ///< of the piece
  Int128 unearned = 0;  ///< value x clock

  [[nodiscard]] bool done() const { return at == pieces.size(); }
  [[nodiscard]] bool before(const Earning& other) const {
    return !no_sparser(other.pieces[other.at], pieces[at]);
  }
  /// A piece is not earned until the mean of the times at which its parts are worked on.
  Int128 serve(Int128 now, Int128 until) {
    const EarnedPiece& piece = pieces[at];
    const Int128 end = std::min(now + piece.work - spent, until), length = end - now;
    const Int128 mean = floor_over(length * (now + end - 2 * release), 2 * piece.work);
    unearned += piece.value * mean;
    spent += length;
    if (spent == piece.work) {
      ++at;
      spent = 0;
    }
    return end;
  }
};

Earning earning_of(const EarningJob& job, std::size_t number) {
  Earning made;
  expect_of_job(job.pieces.size() <= kMostPieces, "pieces", number, "has more than 2^20 pieces");
  double sum = 0.0;
  for (const EarningPiece& given : job.pieces) {
    sum += given.work;
    expect_of_job(given.work >= 0.0 && sum <= kMostWork, "work", number,
                  "has work out of range: 0 to 2^40 s of a unit");
    expect_of_job(given.value >= 0.0 && given.value <= kMostValue, "value", number,
                  "has a value out of range: 0 to 2^10");
    EarnedPiece piece{fixed_down(given.work, kFlowTimeLog2),
                      fixed_down(given.value, kFlowValueLog2)};
    if (piece.work == 0) continue;
    while (!made.pieces.empty() && no_sparser(piece, made.pieces.back())) {
      piece.work += made.pieces.back().work;
      piece.value += made.pieces.back().value;
      made.pieces.pop_back();
    }
    made.pieces.push_back(piece);
  }
  return made;
}

}  // namespace

double prove_total_flow(std::span<const MalleableJob> jobs, std::int32_t units) {
  check_units(units);
  std::vector<Remaining> machine;
  std::vector<Int128> releases;
  Int128 since = 0, alone = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const MalleableJob& job = jobs[j];
    check_release(job.release, j);
    expect_of_job(
        !job.rate.empty() && std::cmp_less_equal(job.rate.size(), units) &&
            std::ranges::all_of(job.rate, [](double r) { return r > 0.0 && std::isfinite(r); }),
        "rate", j, "needs rates above 0 on 1 to all units");
    double fastest = 0.0, thriftiest = 0.0;
    for (std::size_t g = 1; g <= job.rate.size(); ++g) {
      fastest = std::max(fastest, job.rate[g - 1]);
      thriftiest = std::max(thriftiest, job.rate[g - 1] / static_cast<double>(g));
    }
    const double least = job.work / thriftiest * (1.0 - kDivisionSlack);
    expect_of_job(job.work >= 0.0 && least <= kMostWork, "work", j,
                  "has work out of range: 0 to 2^40 s of a unit");
    machine.push_back({.left = fixed_down(least, kFlowTimeLog2)});
    alone += fixed_down(job.work / fastest * (1.0 - kDivisionSlack), kFlowTimeLog2);
    releases.push_back(fixed_down(job.release, kFlowTimeLog2) * units);
    since += fixed_up(job.release, kFlowTimeLog2) * units;
    machine.back().end = releases.back();
  }
  run_one_machine<Remaining>(releases, machine);
  Int128 ends = -since;
  for (const Remaining& job : machine) ends += job.end;
  return std::max(divided_down(ends, units, kFlowTimeLog2), divided_down(alone, 1, kFlowTimeLog2));
}

double prove_total_unearned(std::span<const EarningJob> jobs, std::int32_t units) {
  check_units(units);
  std::vector<Earning> machine;
  std::vector<Int128> releases;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    check_release(jobs[j].release, j);
    machine.push_back(earning_of(jobs[j], j));
    releases.push_back(fixed_down(jobs[j].release, kFlowTimeLog2) * units);
    machine.back().release = fixed_up(jobs[j].release, kFlowTimeLog2) * units;
  }
  run_one_machine<Earning>(releases, machine);
  Int128 unearned = 0;
  for (const Earning& job : machine) unearned += job.unearned;
  return divided_down(unearned, units, kFlowTimeLog2 + kFlowValueLog2);
}

}  // namespace berth::certify
