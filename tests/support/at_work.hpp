// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "random_tiny.hpp"

#include "berth/model/instance.hpp"

namespace berth::test {

/// The instance on a cluster at work: machines that are drained, reserved or partly used, and jobs
/// that run, some of them pinned; queues in queues, hard and soft; rings and parameter servers over
/// limited uplinks. What lies on a machine fits it.
model::Instance at_work(Dice& dice, model::Instance instance);

}  // namespace berth::test
