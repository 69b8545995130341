// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// Largest number of tasks of a shape that one empty domain holds. Counted per shape, because many
/// jobs share one.
class DomainCapacity {
 public:
  explicit DomainCapacity(const model::InstanceView& instance);

  /// Counts on machines of the type (invalid: any machine), within one domain of this level.
  std::int64_t most(ShapeId shape, GpuTypeId type, model::Level level);

  /// What all empty domains of a level hold together, at most so many tasks in each machine and in
  /// each domain.
  struct Spread {
    std::int64_t tasks = 0;
    std::int64_t domains = 0;  ///< that hold a task
  };
  [[nodiscard]] Spread spread(const model::Shape& shape, GpuTypeId type, model::Level level,
                              const model::DomainCounts& most) const;

  /// Classes of machines that are up and of these GPU types (a shape without GPUs: of any).
  [[nodiscard]] std::vector<ClassId> classes(const model::Shape& shape, std::uint64_t types) const;

 private:
  [[nodiscard]] std::int64_t count(const model::Shape& shape, GpuTypeId type,
                                   model::Level level) const;
  [[nodiscard]] std::vector<std::int64_t> count_by_class(const model::Shape& shape, GpuTypeId type,
                                                         std::int64_t most) const;

  model::InstanceView instance_;
  /// By level: the domains by their number of machines that are up of each class, and how many
  /// domains are equal.
  std::map<model::Level, std::map<std::map<ClassId, std::int64_t>, std::int64_t>> domains_;
  std::map<std::tuple<ShapeId, GpuTypeId, model::Level>, std::int64_t> known_;
};

/// The resource of which one task asks for more than any of these classes has, or that no class has
/// enough of all at once; without classes, that no machine is up. @pre no class can hold the task
std::string shortage(const model::Cluster& cluster, std::span<const ClassId> classes,
                     const model::Shape& shape);

}  // namespace berth::pipeline
