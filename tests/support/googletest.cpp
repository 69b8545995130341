// SPDX-License-Identifier: Apache-2.0
// Holds the headers that tests/support/CMakeLists.txt precompiles; no code of its own.
