// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace berth::model {

/// Running SHA-256 over a canonical stream of values (OpenSSL inside).
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& text(std::string_view bytes);  ///< the bytes as they are
  Sha256& integer(std::int64_t value);   ///< decimal and a tab
  Sha256& real(double value);            ///< bit pattern; every NaN and every zero alike
  Sha256& name(std::string_view value);  ///< length first, so that names cannot run together
  std::string hex();                     ///< ends the stream; 64 digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::model
