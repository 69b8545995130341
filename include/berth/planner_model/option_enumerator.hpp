// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "berth/base/strong_id.hpp"
#include "berth/planner_model/gpu_types.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::planner_model {

/// A domain around a job's home, and the largest distance of its places from home.
struct HomeScope {
  model::Level level = model::Level::cluster;     ///< of the domain
  std::int32_t domain = 0;                        ///< its RackId or PodId; 0 for the cluster
  model::Level distance = model::Level::machine;  ///< machine for a job without a home
};

/// An option of a job: it runs on GPUs of one type, inside `scope`, in a domain of level `width`.
struct JobOption {
  GpuTypeId type;  ///< invalid: a job without GPUs, or any type
  model::Level width = model::Level::machine;
  HomeScope scope = {};
};

/// Enumerates the options of a job and their values, u_jk. Every part of the planner takes the
/// options of a job from here: market, local search, bounds, assignment to shards, choice of
/// bidders. It does not check that a machine holds the job's tasks. The judge has its own list.
class OptionEnumerator {
 public:
  /// @param finest  rack, or pod where racks of a pod are not distinguished: then the home rack
  ///                counts as its pod, and a domain of a pod has the value of a rack
  OptionEnumerator(const Valuation& valuation, JobId job, model::Level finest = model::Level::rack);

  /// GPU types on the job's list that the cluster has, ascending.
  [[nodiscard]] const GpuTypes& types() const { return types_; }

  /// The cluster first; each scope is inside the one before.
  [[nodiscard]] std::span<const HomeScope> scopes() const { return {scopes_.data(), scope_count_}; }

  /// Calls visit(JobOption) for the options on one type: scopes from the cluster to home, and in
  /// each of them wide ones before narrow ones. Never two of equal width and scope.
  template <class Visit>
  void for_each_on(GpuTypeId type, Visit visit) const {
    for (const HomeScope& scope : scopes()) {
      const int least = static_cast<int>(narrowest_);
      for (int w = static_cast<int>(std::min(widest_, scope.level)); w >= least; --w) {
        const auto width = static_cast<model::Level>(w);
        if (width == model::Level::pod && finest_ == model::Level::pod) continue;
        visit(JobOption{.type = type, .width = width, .scope = scope});
      }
    }
  }

  [[nodiscard]] double value(const JobOption& option) const {
    return value_at(option.type, option.width, option.scope.distance);
  }

  /// Value in a domain of level `width` whose farthest machine is at `distance` from home.
  [[nodiscard]] double value_at(GpuTypeId type, model::Level width, model::Level distance) const {
    return valuation_->option(job_, on_gpus_ ? type : GpuTypeId{}, width, distance);
  }

  /// Largest value of any option on the type.
  [[nodiscard]] double best(GpuTypeId type) const {
    return value_at(type, model::Level::machine, model::Level::machine);
  }

 private:
  void add_scopes(const model::Cluster& cluster, const model::Job& job);

  const Valuation* valuation_;
  JobId job_;
  model::Level finest_;
  model::Level narrowest_;  ///< narrowest domain that the rules allow
  model::Level widest_;     ///< widest domain allowed; machine for a job of one task
  bool on_gpus_;
  GpuTypes types_;
  std::array<HomeScope, 3> scopes_ = {};
  std::size_t scope_count_ = 0;
};

}  // namespace berth::planner_model
