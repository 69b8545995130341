// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"

#include <functional>

#include "berth/base/error.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/instance.hpp"

namespace berth::apps {

using InstanceSource = std::function<model::Instance()>;

/// Writes both files of an instance and says how large it is. On rank 0 only: `import` and
/// `generate` are quick.
ExitCode make_instance(const comm::Communicator& comm, const InstanceSource& source,
                       const Output& output);

/// Writes both files and prints their sizes.
void write_instance(const model::Instance& instance, const Output& output);

}  // namespace berth::apps
