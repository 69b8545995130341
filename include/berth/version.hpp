// SPDX-License-Identifier: Apache-2.0
#pragma once

// The version of these headers, of the libraries and of the program: CMakeLists.txt reads it here.
#define BERTH_VERSION_MAJOR 0
#define BERTH_VERSION_MINOR 1
#define BERTH_VERSION_PATCH 0

/// One number that grows with the version: #if BERTH_VERSION >= BERTH_VERSION_OF(0, 1, 0)
#define BERTH_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define BERTH_VERSION \
  BERTH_VERSION_OF(BERTH_VERSION_MAJOR, BERTH_VERSION_MINOR, BERTH_VERSION_PATCH)
