// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/speed/model.hpp"

/// Gangs that advance when any k of their n workers have (Lee, Lam, Pedarsani, Papailiopoulos and
/// Ramchandran: Speeding up distributed machine learning using codes, 2018, arXiv:1512.02673).
///
/// The work of an iteration is cut into k parts; with an (n, k) MDS code any k of n answers are
/// enough. Its unit is the time of all of it on one worker that does not straggle; a part takes
///   Pr[T <= t] = 1 - exp(-tail (k t - 1)), t >= 1/k.
namespace berth::speed {

/// Expected units of time of an iteration: (1/k) (1 + (H_n - H_(n-k)) / tail).
/// @throws InputError: k out of 1 .. n, tail 0 or less  O(k)
[[nodiscard]] double coded_time(std::int32_t n, std::int32_t k, double tail);

/// The same without code: all n have to answer. coded_time(n, n, tail).
[[nodiscard]] double uncoded_time(std::int32_t n, double tail);

/// The same with each of n/copies parts on `copies` workers, the first of which counts:
/// (copies/n) (1 + H_(n/copies) / (copies tail)). @throws InputError: copies out of
/// 1 .. n, tail 0 or less  @pre copies divides n
[[nodiscard]] double replicated_time(std::int32_t n, std::int32_t copies, double tail);

/// The k of least coded_time, the smaller one of two. @throws InputError: n below 1, tail 0 or less
/// O(n)
[[nodiscard]] std::int32_t best_k_of(std::int32_t n, double tail);

/// For many workers: k / n of the best k, 1 + 1 / W(-exp(-tail - 1)), and n x coded_time, -W /
/// tail; W is the lower branch of Lambert's function. @throws InputError: tail 0 or less
struct CodedLimit {
  double share = 0.0;
  double time = 0.0;
};
[[nodiscard]] CodedLimit coded_limit(double tail);

/// The shift and tail of worker times of whole work, 1 unit each, by maximum likelihood: the least
/// time is the shift, the mean excess over it is shift / tail. @pre two different times at least
struct WorkerTimes {
  double shift = 1.0;  ///< seconds of a worker that does not straggle
  double tail = 1.0;
};
[[nodiscard]] WorkerTimes fit_worker_times(std::span<const double> seconds);

/// A job whose iterations end when `needed` of `workers` have answered.
struct CodedJob {
  double seconds = 1.0;  ///< an iteration's work on one worker that does not straggle
  double tail = 1.0;     ///< > 0; the larger, the less workers straggle
  std::int32_t workers = 1;
  std::int32_t needed = 1;
  double reference = 0.0;  ///< iterations a second at which `duration` was measured; 0: no such job
};

/// Expected time of an iteration.
[[nodiscard]] double expected_seconds(const CodedJob& job);

/// Time of one iteration in seconds, drawn: a function of (seed, job, iteration) alone. O(workers)
[[nodiscard]] double drawn_seconds(const CodedJob& job, std::uint64_t seed, JobId id,
                                   std::uint64_t iteration);

/// Rates of coded jobs: each iteration takes a drawn time. Others have the rate of `others`.
class CodedModel final : public Model {
 public:
  /// `jobs` by JobId. All are referred to.
  /// @throws std::invalid_argument: seconds, tail or reference not above 0, needed not in 1 ..
  ///         workers
  CodedModel(std::span<const CodedJob> jobs, std::uint64_t seed, const Model& others);

  [[nodiscard]] bool coupled() const override { return others_->coupled(); }
  void shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const override {
    others_->shared(job, keys);
  }
  void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override;

 private:
  std::span<const CodedJob> jobs_;
  std::uint64_t seed_;
  const Model* others_;
};

}  // namespace berth::speed
