// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/base/archive.hpp"
#include "berth/policy/state.hpp"

namespace berth::policy {

/// A scheduler in time. It draws no random numbers and reads no clock: equal histories have equal
/// actions. Every tie ends in arrival, then id.
class Policy {
 public:
  virtual ~Policy() = default;
  /// Called after the arrivals and ends of a moment, and when the policy asked to be woken.
  virtual void decide(State& state) = 0;
  /// The waiting job that is started next; after a decision it does not fit. Invalid: none.
  [[nodiscard]] virtual JobId next() const { return {}; }
  /// True when no waiting job fits after a decision.
  [[nodiscard]] virtual bool starts_all_that_fit() const { return false; }
  /// Appends what the policy remembers between decisions, for a checkpoint of the simulation;
  /// false: it cannot, and the simulation has no checkpoints.
  virtual bool save(ByteWriter& /*writer*/) const { return false; }
  /// Takes what `save` wrote, in a policy made with the same options.
  virtual void restore(ByteReader& /*reader*/) {}
};

struct PolicyOptions {
  /// GPU-seconds of attained service at which a job enters the next queue of `las`, ascending.
  std::vector<std::int64_t> las_thresholds = {3'250, 7'200, 18'000};
};

struct PolicyRow {
  std::string_view name;
  std::string_view help;  ///< one line
  bool preemptive;        ///< stops running jobs
  bool estimates;         ///< looks at durations of jobs
  std::unique_ptr<Policy> (*make)(const PolicyOptions& options);
};

/// All policies of this library.
std::span<const PolicyRow> policy_table();

/// @throws InputError for a name that the table lacks, with the nearest one
const PolicyRow& policy_row(std::string_view name);

}  // namespace berth::policy
