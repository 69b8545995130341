// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace berth::apps {

/// "berth 0.1.0 (12ab34cd56)": with the commit, where it was built from a repository.
std::string_view version();

}  // namespace berth::apps
