// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/dual_part.hpp"

#include "horizon/dual_tables.hpp"

#include <optional>
#include <utility>

namespace berth::solver {

using horizon_plan::ClassSums;
using horizon_plan::DualTables;
using horizon_plan::NearlyEqualJobs;

struct DualPart::Tables {
  explicit Tables(DualTables read) : of(std::move(read)) {
    for (std::size_t i = 0; i < of.counts.size(); ++i) classes.push_back({JobId(i), of.counts[i]});
    sums.emplace(of.problem, of.grid, classes, of.ranges, of.scale);
  }
  Tables(const Tables&) = delete;

  DualTables of;
  std::vector<NearlyEqualJobs> classes;
  std::optional<ClassSums> sums;  ///< refers to the others
};

DualPart::DualPart(std::string_view bytes)
    : tables_(std::make_unique<Tables>(horizon_plan::tables_from(bytes))) {}
DualPart::DualPart(DualPart&&) noexcept = default;
DualPart& DualPart::operator=(DualPart&&) noexcept = default;
DualPart::~DualPart() = default;

std::size_t DualPart::unknowns() const { return tables_->of.scale.gradient.size(); }

void DualPart::add_sums(std::span<const double> ends, double temperature,
                        std::span<std::int64_t> sums) const {
  tables_->sums->add(ends, temperature, tables_->classes.size(), sums);
}

}  // namespace berth::solver
