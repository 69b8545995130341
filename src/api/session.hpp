// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::api {

/// Makes the session of the whole program unless there is one. Main thread.
void need_session();

}  // namespace berth::api
