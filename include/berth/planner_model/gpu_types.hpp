// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "berth/model/workload.hpp"

namespace berth::planner_model {

/// True when the job's GPU tasks may run on GPUs of `type`.
inline bool allows(const model::Job& job, GpuTypeId type) { return model::lists(job, type); }

/// The GPU types on a job's list, ascending: all types for a job without a list.
class GpuTypes {
 public:
  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = GpuTypeId;
    Iterator() = default;
    explicit Iterator(std::uint64_t rest) : rest_(rest) {}
    GpuTypeId operator*() const { return GpuTypeId(std::countr_zero(rest_)); }
    Iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    std::uint64_t rest_ = 0;  ///< bits of this type and of those after it
  };

  /// @param types  GPU types of the cluster; a list may name no others
  GpuTypes(const model::Job& job, std::size_t types)
      : bits_(types >= 64 ? job.gpu_types : job.gpu_types & ((std::uint64_t{1} << types) - 1)) {}

  [[nodiscard]] Iterator begin() const { return Iterator(bits_); }
  [[nodiscard]] Iterator end() const { return Iterator(); }

 private:
  std::uint64_t bits_;
};

}  // namespace berth::planner_model
