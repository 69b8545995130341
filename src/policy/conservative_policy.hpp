// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/policy/policy.hpp"

namespace berth::policy {

/// Conservative backfill (Mu'alem and Feitelson 2001): a job gets a reservation of devices when it
/// arrives, at the earliest time at which it delays no other. When jobs end, each waiting job in
/// order of arrival gives its reservation back and takes the earliest one beside all others, so it
/// never moves to a later time unless a running job outlives its estimate.
///
/// Reservations keep devices, not CPU and memory: a job whose devices come free and whose other
/// resources do not waits for the next completion.
/// O(waiting x (machines + reservations)) a decision after completions.
class Conservative final : public Policy {
 public:
  void decide(State& state) override;
  bool save(ByteWriter& writer) const override {
    writer(waiting_);
    return true;
  }
  void restore(ByteReader& reader) override { reader(waiting_); }

 private:
  struct BookedStart {
    JobId job;
    GpuTypeId type;
    Micros start = kNever;
    Micros end = kNever;
    std::vector<model::TaskPlacement> tasks = {};

    template <class Archive>
    friend void describe(Archive& archive, BookedStart& booked) {
      archive(booked.job, booked.type, booked.start, booked.end, booked.tasks);
    }
  };
  class Profiles;
  void queue(const State& state, JobId job);
  void place(State& state, Profiles& free, BookedStart& reservation) const;
  [[nodiscard]] BookedStart earliest(const State& state, Profiles& free, JobId job,
                                     GpuTypeId type) const;
  [[nodiscard]] FreeMachines room(const State& state, Micros from, Micros to) const;

  std::vector<BookedStart> waiting_;  ///< by arrival, then id
};

}  // namespace berth::policy
