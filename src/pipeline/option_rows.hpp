// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/pipeline/option_table.hpp"

namespace berth::pipeline::rows {

std::span<const std::string_view> choice_names(model::Objective);
std::span<const std::string_view> choice_names(strads::SelectionRule);
std::span<const std::string_view> choice_names(JobOrder);

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

template <class T>
constexpr std::string_view type_of() {
  if constexpr (std::is_same_v<T, bool>) return "FLAG";
  if constexpr (std::is_same_v<T, std::string>) return "TEXT";
  if constexpr (std::is_enum_v<T>) return "WORD";
  if constexpr (std::is_unsigned_v<T>) return "UINT";
  if constexpr (std::is_integral_v<T>) return "INT";
  if constexpr (std::is_floating_point_v<T>) return "FLOAT";
  return "LIST";
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "yes" : "no";
  if constexpr (std::is_same_v<T, std::string>) return value;
  if constexpr (std::is_enum_v<T>) {
    return std::string(choice_names(value)[static_cast<std::size_t>(value)]);
  }
  if constexpr (is_number<T>) return fmt::format("{}", value);
  if constexpr (std::is_same_v<T, std::vector<double>>) {
    return fmt::format("{}", fmt::join(value, ","));
  }
}

template <class T>
bool read_number(std::string_view word, T& value) {
  T read{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, read);
  if (error != std::errc() || stop != end) return false;
  value = read;
  return true;
}

bool read_list(std::string_view word, std::vector<double>& value);

template <class T>
bool read_enum(std::string_view word, T& value) {
  const auto words = choice_names(value);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return value = static_cast<T>(i), true;
  }
  return false;
}

template <class T>
bool read_value(std::string_view word, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (word != "yes" && word != "no") return false;
    return value = word == "yes", true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value = std::string(word), true;
  } else if constexpr (std::is_enum_v<T>) {
    return read_enum(word, value);
  } else if constexpr (is_number<T>) {
    return read_number(word, value);
  } else {
    return read_list(word, value);
  }
}

template <class T>
std::vector<double> numbers_of(const T& value) {
  if constexpr (is_number<T>) return {static_cast<double>(value)};
  if constexpr (std::is_same_v<T, std::vector<double>>) return value;
  return {};
}

/// The field at the end of a path of members, e.g. of `rounds`, then of `offers`.
template <auto... Members>
constexpr OptionField field() {
  using T = std::remove_cvref_t<decltype((std::declval<PlanOptions&>().*....*Members))>;
  OptionField field{
      .type = type_of<T>(),
      .words = {},
      .text = [](const PlanOptions& o) { return text_of<T>((o.*....*Members)); },
      .read = [](PlanOptions& o,
                 std::string_view word) { return read_value<T>(word, (o.*....*Members)); },
      .numbers = [](const PlanOptions& o) { return numbers_of<T>((o.*....*Members)); }};
  return field;
}

/// An enum field at the end of a path of members.
template <auto... Members>
OptionField word_field() {
  OptionField with_words = field<Members...>();
  with_words.words = choice_names((PlanOptions{}.*....*Members));
  return with_words;
}

inline constexpr double kMost = 1'000'000;  ///< largest count without a range; untuned guard

std::vector<OptionRecord> common();
std::vector<OptionRecord> rounds();
std::vector<OptionRecord> online();
std::vector<OptionRecord> expert();

}  // namespace berth::pipeline::rows
