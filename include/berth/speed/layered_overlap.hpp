// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/speed/model.hpp"

/// Overlap of communication and computation in the layers of a network, as SMD models it (Yu, Wu,
/// Liu et al., INFOCOM 2021, Lemmas 1 and 2). All times are in seconds.
namespace berth::speed {

/// A layer; layer 1 is nearest to the input.
struct Layer {
  double backward = 0.0;  ///< b_j
  double transfer = 0.0;  ///< r_j: push, and pull again, of its gradient
  double forward = 0.0;   ///< f_j
};

/// Iteration without overlap: sum b + 2 sum r + sum f.
[[nodiscard]] double sequential_seconds(std::span<const Layer> layers);

/// Iteration of wait-free backpropagation, and which part of each activity is exposed.
struct WaitFree {
  std::vector<double> push;  ///< kappa_j: start of push, by layer
  std::vector<double> pull;  ///< s_j: start of pull
  double seconds = 0.0;
  double backward_factor = 1.0;  ///< eta2: exposed backward time / sum b; 1 without backward time
  double transfer_factor = 1.0;  ///< eta3: exposed transfer time / (2 sum r); 1 without transfers
};

/// A layer is pushed when its backward pass and the push of the layer above are done, pulled when
/// both the push and the pull of the layer above are done; the forward pass follows the last pull
/// (Lemma 1). O(layers)
[[nodiscard]] WaitFree wait_free(std::span<const Layer> layers);

/// Iteration with one channel that prefers layers nearer to the input and may interrupt others;
/// `slice` seconds follow each layer, the last slice of its pull. Push and pull overlap. The text
/// before Lemma 2 is simulated, as its printed recursion counts transfers twice from three layers
/// on. O(layers squared)
[[nodiscard]] double priority_seconds(std::span<const Layer> layers, double slice);

/// Speed of a job by workers and parameter servers with overlap factors (equations for f(p, w)).
struct OverlapJob {
  double batch = 1.0;            ///< K, all workers (synchronous); m, of a worker (asynchronous)
  double forward = 0.0;          ///< t_f: seconds a sample
  double backward = 0.0;         ///< t_b: seconds
  double model_gbit = 0.0;       ///< g
  double server_gbps = 1.0;      ///< B: bandwidth of a server
  double worker_overhead = 0.0;  ///< beta1: seconds a worker
  double server_overhead = 0.0;  ///< beta2: seconds a server
  double forward_factor = 1.0;   ///< eta1
  double backward_factor = 1.0;  ///< eta2
  double transfer_factor = 1.0;  ///< eta3
  double sending_workers = 0.0;  ///< alpha: part of the workers that send at once; 0: synchronous
};

/// Iterations a second of w workers and p servers, both at least 1:
/// synchronous 1 / (eta1 (K/w) t_f + eta2 t_b + 2 eta3 (g/p) / (B/w) + beta1 w + beta2 p),
/// asynchronous w / (eta1 m t_f + eta2 t_b + 2 eta3 alpha (g/p) / (B/w) + beta1 w + beta2 p).
[[nodiscard]] double iterations_per_second(const OverlapJob& job, double workers, double servers);

struct OverlapProfile {
  OverlapJob job;
  double reference = 0.0;  ///< iterations/s at which it takes its `duration`; 0: not such a job
};

/// Rates f(p, w) / reference, wherever workers and servers are. The batch of a running job, when
/// given, replaces K. Jobs without reference, and those without servers, have the rate of `others`.
class OverlapModel final : public Model {
 public:
  /// `jobs` by JobId; all are referred to.
  /// @throws std::invalid_argument: an amount that is negative, not finite, or 0 where it divides
  OverlapModel(std::span<const OverlapProfile> jobs, const Model& others);

  [[nodiscard]] bool coupled() const override { return others_->coupled(); }
  void shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const override {
    others_->shared(job, keys);
  }
  void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override;

 private:
  std::span<const OverlapProfile> jobs_;
  const Model* others_;
};

}  // namespace berth::speed
