// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/machine_states.hpp"
#include "search/search_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify::search {

/// All placements of a job in a room, one at least of each set of interchangeable ones.
class PlacementEnumeration {
 public:
  /// Takes the room after the placement, in order, and what the placement gains.
  using Sink = std::function<void(Room room, Int128 gain)>;

  PlacementEnumeration(const SearchProblem& problem, const MachineStates& states)
      : problem_(problem), states_(states) {}

  /// @param steps  less the tasks tried; when it becomes negative, the enumeration has ended early
  void run(const SearchedJob& job, const Room& room, std::int64_t& steps, const Sink& sink);

 private:
  struct EnumeratedMachine {
    std::size_t word = 0;  ///< position in the room
    std::size_t rack = 0, pod = 0;
    StateId before = 0, now = 0;
    std::int32_t tasks = 0;  ///< of the group being placed
    bool used = false;       ///< has tasks of the job
  };
  struct DomainState {
    std::uint32_t mark = 0;    ///< of its identity, 0: none
    std::ptrdiff_t twin = -1;  ///< the equal one before it in the same place; -1: none
    std::int32_t tasks = 0;    ///< of the job
  };

  void read(const Room& room);
  /// Places `left` tasks of group `group` on machines from `m` on.
  void place(std::size_t group, std::int32_t left, std::size_t m);
  void fill(std::size_t group, std::int32_t left, std::size_t m);
  void next_group(std::size_t group);
  void finish();
  [[nodiscard]] bool allowed(std::size_t group, std::size_t m) const;
  [[nodiscard]] bool reaches_twin(std::size_t group, std::size_t m) const;

  const SearchProblem& problem_;
  const MachineStates& states_;
  const SearchedJob* job_ = nullptr;
  const SearchedJob::Choice* choice_ = nullptr;
  const Room* room_ = nullptr;
  const Sink* sink_ = nullptr;
  std::int64_t* steps_ = nullptr;
  std::vector<EnumeratedMachine> machines_;
  std::vector<DomainState> racks_, pods_;
  std::vector<std::size_t> used_;  ///< machines with tasks of the job, in order of first use
};

}  // namespace berth::certify::search
