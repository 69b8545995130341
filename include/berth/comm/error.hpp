// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "berth/base/error.hpp"

namespace berth::comm {

/// MPI itself failed. Not recoverable: the ranks can no longer agree on anything.
class MpiError : public std::runtime_error {
 public:
  MpiError(const std::string& call, int code, const std::string& reason);
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

/// What went wrong on one rank, in the form that travels.
struct Failure {
  ExitCode exit_code = ExitCode::internal_error;
  std::string message;
};

/// One rank's word before a collective: nothing, or why it cannot take part.
using Status = std::optional<Failure>;

/// Thrown by every rank of a communicator at once: same message, same exit code everywhere.
class AgreedError : public std::runtime_error {
 public:
  AgreedError(const Failure& failure, int rank)
      : std::runtime_error(failure.message), exit_code_(failure.exit_code), rank_(rank) {}

  [[nodiscard]] ExitCode exit_code() const { return exit_code_; }
  [[nodiscard]] int rank() const { return rank_; }  ///< lowest rank that failed

 private:
  ExitCode exit_code_;
  int rank_;
};

/// InputError keeps its text and becomes bad_input, AgreedError keeps its code, the rest is an
/// internal error.
Failure failure_of(const std::exception_ptr& error);

}  // namespace berth::comm
