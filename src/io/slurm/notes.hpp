// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/io/slurm.hpp"

namespace berth::io::slurm {

/// Counts features that could not be imported; one note for each kind, in order of first
/// appearance.
class Notes {
 public:
  void add(const std::string& what, const std::string& example) {
    for (SlurmNote& note : notes_) {
      if (note.what == what) {
        ++note.count;
        return;
      }
    }
    notes_.push_back({.what = what, .count = 1, .example = example});
  }

  [[nodiscard]] std::vector<SlurmNote> take() { return std::move(notes_); }

 private:
  std::vector<SlurmNote> notes_;
};

}  // namespace berth::io::slurm
