// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "random_tiny.hpp"

#include "berth/model/instance.hpp"

namespace berth::test {

/// The instance on a cluster in use: machines that are drained, evacuated, reserved or partly used,
/// running jobs, some of them pinned; nested queues with hard and soft quotas; rings and parameter
/// servers over limited uplinks. The content of every machine fits on it.
model::Instance at_work(Dice& dice, model::Instance instance);

}  // namespace berth::test
