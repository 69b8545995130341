// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// Most tasks of a shape that one empty domain holds. Counted per shape: many jobs share one.
class DomainCapacity {
 public:
  explicit DomainCapacity(const model::Instance& instance);

  /// On machines of the type (invalid: any machine), within one domain of this level.
  std::int64_t most(ShapeId shape, GpuTypeId type, model::Level level);

  /// Classes of machines that are up and of these GPU types (a shape without GPUs: of any).
  [[nodiscard]] std::vector<ClassId> classes(const model::Shape& shape, std::uint64_t types) const;

 private:
  [[nodiscard]] std::int64_t count(const model::Shape& shape, GpuTypeId type,
                                   model::Level level) const;

  const model::Instance& instance_;
  /// Machines that are up by class, of all domains of a level; those that have the same once.
  std::map<model::Level, std::set<std::map<ClassId, std::int64_t>>> domains_;
  std::map<std::tuple<ShapeId, GpuTypeId, model::Level>, std::int64_t> known_;
};

/// Which resource one task asks more of than any of these classes has, or that none has all it
/// asks for at once; of no class, that no machine is up. @pre none of them can hold the task
std::string shortage(const model::Cluster& cluster, std::span<const ClassId> classes,
                     const model::Shape& shape);

}  // namespace berth::pipeline
