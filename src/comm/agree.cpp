// SPDX-License-Identifier: Apache-2.0
#include "berth/comm/communicator.hpp"

namespace berth::comm {

void Communicator::agree(const Status& status) const {
  const auto first = static_cast<int>(min(status ? rank() : size()));
  if (first == size()) return;
  Failure failure = status.value_or(Failure{});
  broadcast_value(failure.exit_code, first);
  broadcast_string(failure.message, first);
  throw AgreedError(failure, first);
}

}  // namespace berth::comm
