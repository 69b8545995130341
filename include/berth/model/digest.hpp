// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::model {

/// Running SHA-256 over a canonical stream of values (OpenSSL inside).
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& text(std::string_view bytes);  ///< the bytes as they are
  Sha256& integer(std::int64_t value);   ///< decimal and a tab
  Sha256& real(double value);            ///< bit pattern; every NaN and every zero alike
  Sha256& name(std::string_view value);  ///< length first, so that names cannot run together
  std::string hex();                     ///< ends the stream; 64 digits

 private:
  struct HashState;
  std::unique_ptr<HashState> state_;
};

/// `instance_digest` job by job, for who does not have all jobs at once.
class InstanceDigest {
 public:
  explicit InstanceDigest(const Instance& instance);  ///< which outlives it
  void add(JobId job);  ///< ascending, pinned ones too. @pre the instance has the job and all names
  std::string hex() { return sha_.hex(); }  ///< once all are added

 private:
  const Instance* instance_;
  std::vector<std::size_t> types_;  ///< by name
  Sha256 sha_;
};

/// `plan_digest` placement by placement. Needs names, not the jobs themselves.
class PlanDigest {
 public:
  explicit PlanDigest(const Instance& instance);  ///< which outlives it
  PlanDigest(PlanDigest&&) noexcept;
  ~PlanDigest();
  void add(const JobPlacement& placed);  ///< in the order of `jobs_by_name`
  std::string hex();                     ///< once all are added

 private:
  struct DigestState;
  std::unique_ptr<DigestState> state_;
};

/// All jobs by their names. O(jobs) when they are named in order, as mostly.
std::vector<JobId> jobs_by_name(const Workload& workload);

}  // namespace berth::model
