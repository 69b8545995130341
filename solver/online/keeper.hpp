// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "forecast.hpp"

#include <optional>
#include <set>
#include <vector>

#include "berth/model/room.hpp"

namespace berth::solver {

/// Where a job goes that finds no place kept for its kind.
struct Squeeze {
  MachineId machine;
  double gain = 0.0;             ///< its value less that of the expected jobs it pushes out
  std::vector<int> pushed = {};  ///< places that are given up for it
};

/// What lies on the machines, and which places are kept for jobs that are expected.
class Keeper {
 public:
  Keeper(const model::Valuation& valuation, const Forecast& forecast);

  /// The job lies there now, for good.
  void settle(JobId job, const model::TaskPlacement& task);

  /// Keeps a place. @pre the machine has room for it beside all that is kept there
  void keep(Kind kind, double value, const model::TaskPlacement& task);

  /// Gives up all places kept on these machines.
  void give_up(std::span<const MachineId> machines);

  /// A place kept for this kind, for no job worth more there, on the machine with the least free
  /// room: it is no longer kept.
  std::optional<model::TaskPlacement> claim(Kind kind, JobId job);

  /// The best place for the job that gives up kept ones, or none when it fits nowhere.
  [[nodiscard]] std::optional<Squeeze> squeeze(JobId job) const;
  /// Gives them up; returns the job's devices. @pre nothing has changed since
  model::TaskPlacement apply(JobId job, const Squeeze& squeeze);

  /// Machines where nothing has been settled; where some kind of job on GPUs still fits.
  [[nodiscard]] std::vector<MachineId> untouched() const;
  [[nodiscard]] std::vector<MachineId> with_room() const;
  [[nodiscard]] std::int64_t free_milli() const { return free_milli_; }
  [[nodiscard]] std::vector<std::int64_t> kept_by_kind() const;
  [[nodiscard]] const model::Room& room() const { return room_; }

 private:
  struct Place {
    Kind kind = 0;
    double value = 0.0;
    model::TaskPlacement task;
  };
  /// Free thousandths of the machine, then its id, then the place: the fullest machine first.
  using Key = std::tuple<std::int64_t, MachineId, int>;

  void drop(int place);
  [[nodiscard]] Key key(int place) const;
  [[nodiscard]] const Place& at(int place) const {
    return places_[static_cast<std::size_t>(place)];
  }
  /// Type that the value of such a job depends on: invalid for one without GPUs.
  [[nodiscard]] GpuTypeId value_type(const model::Shape& shape, MachineId machine) const;
  [[nodiscard]] bool takes(MachineId machine, JobId job) const;  ///< now, if nothing were kept
  [[nodiscard]] std::optional<Squeeze> squeeze_into(const model::Shape& shape, double value,
                                                    MachineId machine) const;

  const model::Valuation* valuation_;
  const Forecast* forecast_;
  model::Room room_;     ///< without what is settled
  model::Room planned_;  ///< without what is kept either
  std::vector<char> touched_;
  std::vector<std::vector<int>> on_machine_;  ///< places kept there, ascending
  std::vector<Place> places_;                 ///< all that were ever kept
  std::vector<std::set<Key>> of_kind_;
  std::int64_t free_milli_ = 0;
};

}  // namespace berth::solver
