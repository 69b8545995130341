// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/model/run_record.hpp"

namespace berth::io {

/// One replay of a sweep.
struct SweepRow {
  std::uint64_t number = 0;  ///< in the order of the table
  std::string name;          ///< folder of the run
  std::string policy;
  std::int64_t seed = 0;
  double load = 0.0;  ///< GPU-time of the jobs over that of the cluster, first to last arrival
  std::string run_digest;
  std::vector<double> figures;  ///< by kRunFigureRows
};

template <class Archive>
void describe(Archive& archive, SweepRow& row) {
  archive(row.number, row.name, row.policy, row.seed, row.load, row.run_digest, row.figures);
}

/// sweep.csv: a head, then a line for each replay. Numbers have the shortest digits that read back
/// the same. @pre names and policies are plain words
std::string sweep_csv(const std::vector<SweepRow>& rows);

/// sweep.json: the same.
std::string sweep_json(const std::vector<SweepRow>& rows);

}  // namespace berth::io
