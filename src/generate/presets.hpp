// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/generate/generate.hpp"
#include "berth/model/instance.hpp"

/// The presets of `generate`, one source file each. @pre options are valid
namespace berth::generate {

model::Instance openb_like(const GenerateOptions& options);
model::Instance philly_like(const GenerateOptions& options);
model::Instance llm_like(const GenerateOptions& options);

}  // namespace berth::generate
