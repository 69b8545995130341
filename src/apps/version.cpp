// SPDX-License-Identifier: Apache-2.0
#include "version.hpp"

namespace berth::apps {

std::string_view version() { return "berth " BERTH_VERSION; }

}  // namespace berth::apps
