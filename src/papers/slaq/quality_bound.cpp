// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/quality_bound.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::papers {
namespace {

double density(const FluidPiece& piece) { return piece.value / piece.work; }

/// Pieces of the upper concave envelope.
std::vector<FluidPiece> envelope(std::span<const FluidPiece> pieces) {
  std::vector<FluidPiece> joined;
  for (FluidPiece piece : pieces) {
    BERTH_EXPECT(piece.work > 0.0 && piece.value >= 0.0);
    while (!joined.empty() && density(joined.back()) <= density(piece)) {
      piece.work += joined.back().work;
      piece.value += joined.back().value;
      joined.pop_back();
    }
    joined.push_back(piece);
  }
  return joined;
}

/// Serves released jobs by the largest key, preemptively. `Open` has release(job), key(), and
/// serve(seconds) -> seconds used, done().
template <class Open>
void run(std::span<const FluidJob> jobs, std::vector<Open>& open) {
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry> queue;
  double now = 0.0;
  std::size_t next = 0;
  while (next < jobs.size() || !queue.empty()) {
    if (queue.empty()) now = std::max(now, jobs[next].release);
    for (; next < jobs.size() && jobs[next].release <= now; ++next) {
      BERTH_EXPECT(next == 0 || jobs[next].release >= jobs[next - 1].release);
      if (!open[next].done()) queue.emplace(open[next].key(), next);
    }
    if (queue.empty()) continue;
    const std::size_t job = queue.top().second;
    queue.pop();
    const double until =
        next < jobs.size() ? jobs[next].release : std::numeric_limits<double>::infinity();
    now = open[job].serve(now, until);
    if (!open[job].done()) queue.emplace(open[job].key(), job);
  }
}

/// A job of which the densest piece is next.
class Earning {
 public:
  Earning(const FluidJob& job, double cores)
      : pieces_(envelope(job.pieces)), cores_(cores), since_(job.release) {
    for (const FluidPiece& piece : pieces_) left_ += piece.value;
  }
  [[nodiscard]] bool done() const { return at_ == pieces_.size(); }
  [[nodiscard]] double key() const { return density(pieces_[at_]); }
  [[nodiscard]] double unearned() const { return unearned_; }

  double serve(double now, double until) {
    FluidPiece& piece = pieces_[at_];
    const double end = now + piece.work / cores_, stop = std::min(end, until);
    const double earned = stop == end ? piece.value : piece.value * (stop - now) / (end - now);
    unearned_ += left_ * (stop - since_) - 0.5 * earned * (stop - now);
    left_ -= earned;
    since_ = stop;
    piece.work -= cores_ * (stop - now);
    piece.value -= earned;
    if (stop == end) ++at_;
    return stop;
  }

 private:
  std::vector<FluidPiece> pieces_;
  double cores_, since_, left_ = 0.0, unearned_ = 0.0;
  std::size_t at_ = 0;
};

/// A job with the least remaining work next.
class Ending {
 public:
  Ending(const FluidJob& job, double cores) : cores_(cores), release_(job.release) {
    for (const FluidPiece& piece : job.pieces) work_ += piece.work;
    least_ = work_;
  }
  [[nodiscard]] bool done() const { return done_ || least_ == 0.0; }
  [[nodiscard]] double key() const { return -work_; }
  [[nodiscard]] double flow() const { return least_ == 0.0 ? 0.0 : end_ - release_; }
  [[nodiscard]] double work() const { return least_; }

  double serve(double now, double until) {
    const double end = now + work_ / cores_;
    done_ = end <= until;
    end_ = std::min(end, until);
    work_ = done_ ? 0.0 : work_ - cores_ * (until - now);
    return end_;
  }

 private:
  double cores_, release_, work_ = 0.0, least_ = 0.0, end_ = 0.0;
  bool done_ = false;
};

template <class Open>
std::vector<Open> served(std::span<const FluidJob> jobs, double cores) {
  BERTH_EXPECT(cores > 0.0);
  std::vector<Open> open;
  open.reserve(jobs.size());
  for (const FluidJob& job : jobs) open.emplace_back(job, cores);
  run(jobs, open);
  return open;
}

}  // namespace

double least_unearned(std::span<const FluidJob> jobs, double cores) {
  double sum = 0.0;
  for (const Earning& job : served<Earning>(jobs, cores)) sum += job.unearned();
  return sum;
}

double least_flow(std::span<const FluidJob> jobs, double cores, double most) {
  BERTH_EXPECT(most > 0.0 && most <= cores);
  double shared = 0.0, alone = 0.0;
  for (const Ending& job : served<Ending>(jobs, cores)) {
    shared += job.flow();
    alone += job.work() / most;
  }
  return std::max(shared, alone);
}

}  // namespace berth::papers
