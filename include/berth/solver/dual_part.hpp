// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::solver {

/// A process's part of a smoothed dual in time: the sums over some of its blocks of jobs. Sums are
/// int64 fixed point by block, so those of all parts are the same bits in any split.
class DualPart {
 public:
  /// @param bytes  of DualRanks::share
  explicit DualPart(std::string_view bytes);
  DualPart(DualPart&&) noexcept;
  DualPart& operator=(DualPart&&) noexcept;
  ~DualPart();

  [[nodiscard]] std::size_t unknowns() const;
  [[nodiscard]] std::size_t sums_size() const { return 1 + unknowns(); }
  /// Adds the sums at these prices. O(jobs x pieces). Uses threads.
  void add_sums(std::span<const double> ends, double temperature,
                std::span<std::int64_t> sums) const;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

/// The processes that evaluate a smoothed dual together. The first one minimises; the others add
/// what it asks for. Implemented with messages elsewhere (coordinator/dual_ranks.hpp).
class DualRanks {
 public:
  virtual ~DualRanks() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;  ///< with the first one

  /// Begins a dual: each process gets the bytes of its part. @param parts  size(); the first unused
  virtual void share(std::vector<std::string> parts) = 0;

  /// Adds what `own` adds here, and the sums of the parts at these prices.
  virtual void sum(std::span<const double> ends, double temperature,
                   const std::function<void(std::span<std::int64_t>)>& own,
                   std::span<std::int64_t> sums) = 0;
};

}  // namespace berth::solver
