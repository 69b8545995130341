// SPDX-License-Identifier: Apache-2.0
#include "berth/comm/error.hpp"

#include <new>

namespace berth::comm {

MpiError::MpiError(const std::string& call, int code, const std::string& reason)
    : std::runtime_error(call + ": " + reason), code_(code) {}

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const AgreedError& agreed) {
    return {agreed.exit_code(), agreed.what()};
  } catch (const InputError& input) {
    return {ExitCode::bad_input, input.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::internal_error, "out of memory"};
  } catch (const std::exception& other) {
    return {ExitCode::internal_error, other.what()};
  } catch (...) {
    return {ExitCode::internal_error, "unknown exception"};
  }
}

}  // namespace berth::comm
