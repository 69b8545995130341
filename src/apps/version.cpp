// SPDX-License-Identifier: Apache-2.0
#include "version.hpp"

namespace berth::apps {

std::string_view version() { return "berth " BERTH_PROGRAM; }

}  // namespace berth::apps
