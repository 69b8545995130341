// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace berth::io {

/// A name as a YAML scalar: quoted unless YAML can read it as a string only.
std::string yaml_scalar(std::string_view name);

}  // namespace berth::io
