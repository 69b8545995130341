// SPDX-License-Identifier: Apache-2.0
#include "profile_line.hpp"
#include "words.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace berth::io {
namespace {

using speed::LossFamily;

/// Parameters beyond the family's range are mistakes of the line.
void check(const JsonAt& at, const speed::JobLoss& loss) {
  const speed::LossCurve& curve = loss.curve;
  if (loss.iterations == 0.0) at.fail("\"iterations\" is 0", "of the whole job, above 0");
  if (curve.family == LossFamily::linear) {
    if (curve.a <= 0.0 || curve.a >= 1.0) at.fail("\"a\" of a linear curve is not within (0, 1)");
    if (curve.d != 0.0) at.fail("a linear curve has no \"d\"");
  } else if (curve.a < 0.0 || curve.b < 0.0 || curve.c <= 0.0) {
    at.fail("a sublinear curve needs a >= 0, b >= 0 and c > 0");
  }
}

}  // namespace

speed::JobLoss read_loss(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"family", "iterations", "a", "b", "c", "d"};
  static constexpr std::array<std::string_view, 2> families{"sublinear", "linear"};
  speed::JobLoss loss{.curve = {.c = 0.0}, .iterations = 0.0};
  const auto seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) {
      const auto* const found = std::ranges::find(families, value.text());
      if (found == families.end()) {
        value.fail("unknown family " + in_quotes(value.text()),
                   known_words(value.text(), families));
      }
      loss.curve.family = static_cast<LossFamily>(found - families.begin());
    }
    if (key == 1) loss.iterations = value.amount(1e12);
    if (key == 2) loss.curve.a = value.real();
    if (key == 3) loss.curve.b = value.real();
    if (key == 4) loss.curve.c = value.real();
    if (key == 5) loss.curve.d = value.real();
  });
  at.need(keys, 2, seen);
  check(at, loss);
  return loss;
}

}  // namespace berth::io
