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
  Sha256& real(double value);            ///< bit pattern; all NaNs are equal, and both zeros
  Sha256& name(std::string_view value);  ///< length first, so that consecutive names stay distinct
  std::string hex();                     ///< ends the stream; 64 digits

 private:
  struct HashState;
  std::unique_ptr<HashState> state_;
};

/// Computes `instance_digest` job by job, for ranks without the records of all jobs.
class InstanceDigest {
 public:
  explicit InstanceDigest(const InstanceView& instance);  ///< what it refers to must outlive this
  /// ascending, including pinned ones. @pre the instance has the job and all names
  void add(JobId job);
  std::string hex() { return sha_.hex(); }  ///< call after all jobs

 private:
  InstanceView instance_;
  std::vector<std::size_t> types_;  ///< by name
  Sha256 sha_;
};

/// Computes `plan_digest` placement by placement. Needs names, not the records of jobs.
class PlanDigest {
 public:
  explicit PlanDigest(const InstanceView& instance);  ///< what it refers to must outlive this
  PlanDigest(PlanDigest&&) noexcept;
  ~PlanDigest();
  void add(const JobPlacement& placed);  ///< in the order of `jobs_by_name`
  std::string hex();                     ///< call after all placements

 private:
  struct DigestState;
  std::unique_ptr<DigestState> state_;
};

/// All jobs in ascending order of their names. O(jobs) when names follow the ids, as in most files.
std::vector<JobId> jobs_by_name(const WorkloadView& workload);

}  // namespace berth::model
