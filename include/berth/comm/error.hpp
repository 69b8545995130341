// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "berth/base/error.hpp"

namespace berth::comm {

/// MPI itself failed. Not recoverable: the ranks can no longer communicate.
class MpiError : public std::runtime_error {
 public:
  MpiError(const std::string& call, int code, const std::string& reason);
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

/// A failure of one rank, in the form in which ranks exchange it.
struct Failure {
  ExitCode exit_code = ExitCode::internal_error;
  std::string message;
};

/// A rank's status before a collective: empty, or the reason why the rank cannot take part.
using Status = std::optional<Failure>;

/// Thrown by every rank of a communicator at once, with one message and one exit code.
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

/// Converts an exception: InputError keeps its text and becomes bad_input, AgreedError keeps its
/// code, all others become an internal error.
Failure failure_of(const std::exception_ptr& error);

}  // namespace berth::comm
