// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/speed/model.hpp"

namespace berth::speed {

/// A measured throughput.
struct ThroughputRow {
  GpuTypeId gpu_type;
  std::int32_t gpus = 1;            ///< GPUs in all, >= 1
  std::int32_t extra_machines = 0;  ///< machines beyond the fewest that hold these GPUs, >= 0
  double per_second = 0.0;          ///< iterations or samples, one unit a table; 0: does not fit
};

/// Throughput of one application by GPU type, number of GPUs and consolidation, as Gavel
/// (Narayanan et al., OSDI 2020) and Chronus (Gao et al., SoCC 2021) measure it.
class ThroughputTable {
 public:
  /// Rows in any order.
  /// @throws std::invalid_argument: two rows of one type, number and spread, a throughput that is
  ///         negative or not finite, one that grows with `extra_machines`, or no throughput above 0
  explicit ThroughputTable(std::vector<ThroughputRow> rows);

  /// Throughput, 0 when the type has no row or the table says 0. Between two numbers of GPUs it is
  /// linear; above the largest it stays the same, as nothing measured says that more GPUs help;
  /// below the smallest it is proportional. Of the rows of one number that with the most
  /// `extra_machines` not above the given ones holds, else the one with the fewest.
  /// O(log rows + rows of two numbers of GPUs)
  [[nodiscard]] double at(GpuTypeId type, std::int32_t gpus, std::int32_t extra_machines) const;

  [[nodiscard]] std::span<const ThroughputRow> rows() const { return rows_; }  ///< ascending

 private:
  std::vector<ThroughputRow> rows_;
};

/// Which table a job has, and the throughput at which its `duration` was measured.
struct JobThroughput {
  static constexpr std::uint32_t kNoTable = ~std::uint32_t{0};

  std::uint32_t table = kNoTable;
  double reference = 1.0;  ///< unit of the table, > 0; unused without a table
};

/// Rates by throughput tables: throughput here / reference. A job without table has the rate of
/// `others`. The fewest machines for n GPUs are counted in machines of the size of the largest
/// that the job is on.
class ThroughputModel final : public Model {
 public:
  /// `jobs` by JobId. All are referred to, none is copied.
  /// @throws std::invalid_argument: a table that there is not, a reference that is not above 0
  ThroughputModel(const model::Cluster& cluster, std::span<const ThroughputTable> tables,
                  std::span<const JobThroughput> jobs, const Model& others);

  [[nodiscard]] bool coupled() const override { return others_->coupled(); }
  void shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const override {
    others_->shared(job, keys);
  }
  void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override;

 private:
  [[nodiscard]] double throughput(const RunningJob& running, const ThroughputTable& table) const;

  const model::Cluster* cluster_;
  std::span<const ThroughputTable> tables_;
  std::span<const JobThroughput> jobs_;
  const Model* others_;
};

}  // namespace berth::speed
