// SPDX-License-Identifier: Apache-2.0
#include "svg_plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "berth/base/printable.hpp"

namespace berth::sim {
namespace {

constexpr double kWide = 600.0, kHigh = 300.0;  // of the axes, in units of the file
constexpr int kTicks = 5;                       // about so many on an axis

constexpr const char* kStyle =
    "<style>\n"
    "svg{color-scheme:light dark;--ink:#222;--grid:#ddd;--ground:#fff;"
    "--c0:#0b5fa5;--c1:#b3500a;--c2:#1b7a3d;--c3:#7b3fa0;background:var(--ground)}\n"
    "@media (prefers-color-scheme:dark){svg{--ink:#ddd;--grid:#444;--ground:#181818;"
    "--c0:#6db3f2;--c1:#f0a060;--c2:#6fcf8f;--c3:#c79be8}}\n"
    "text{font:12px sans-serif;fill:var(--ink)}\n"
    ".grid{stroke:var(--grid);stroke-width:1}\n"
    ".line{fill:none;stroke-width:1.5}\n"
    "</style>\n";

/// 1, 2 or 5 times a power of ten, so that about kTicks of them are `length`.
double tick_step(double length) {
  const double power = std::pow(10.0, std::floor(std::log10(length / kTicks)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power * kTicks >= length * 0.999) return times * power;
  }
  return 10.0 * power;
}

/// The ends of both axes.
struct Axes {
  double x0 = 0.0, x1 = 1.0, y1 = 1.0;
  double x_step = 1.0, y_step = 1.0;
};

Axes axes_of(const Plot& plot) {
  double least = std::numeric_limits<double>::infinity(), most = -least, high = 0.0;
  for (const PlotLine& line : plot.lines) {
    for (const PlotPoint& point : line.points) {
      least = std::min(least, point.x);
      most = std::max(most, point.x);
      high = std::max(high, point.y);
    }
  }
  Axes axes;
  if (high > 0.0) {
    axes.y_step = tick_step(high);
    axes.y1 = axes.y_step * std::ceil(high / axes.y_step * 0.999999);
  }
  if (least > most) return axes;
  if (plot.log_x) {
    axes.x0 = std::floor(std::log10(least));
    axes.x1 = std::max(axes.x0 + 1.0, std::ceil(std::log10(most)));
    axes.x_step = std::ceil((axes.x1 - axes.x0) / 10.0);
  } else {
    axes.x0 = least;
    axes.x1 = most > least ? most : least + 1.0;
    axes.x_step = tick_step(axes.x1 - axes.x0);
  }
  return axes;
}

double across(const Axes& axes, double x) { return kWide * (x - axes.x0) / (axes.x1 - axes.x0); }
double down(const Axes& axes, double y) { return kHigh * (1.0 - y / axes.y1); }

std::string grid_of(const Plot& plot, const Axes& axes) {
  std::string text;
  const double first = std::ceil(axes.x0 / axes.x_step - 1e-9);
  for (double i = first; i * axes.x_step <= axes.x1 * (1 + 1e-12) + 1e-12; ++i) {
    const double x = i * axes.x_step;
    const std::string label =
        plot.log_x ? fmt::format("{:g}", std::pow(10.0, x)) : fmt::format("{:g}", x);
    text += fmt::format(
        "<line class=\"grid\" x1=\"{0:.2f}\" y1=\"0\" x2=\"{0:.2f}\" y2=\"{1:g}\"/>"
        "<text x=\"{0:.2f}\" y=\"{2:g}\" text-anchor=\"middle\">{3}</text>\n",
        across(axes, x), kHigh, kHigh + 16.0, label);
  }
  for (double i = 0.0; i * axes.y_step <= axes.y1 * (1 + 1e-9); ++i) {
    const double y = i * axes.y_step;
    text += fmt::format(
        "<line class=\"grid\" x1=\"0\" y1=\"{0:.2f}\" x2=\"{1:g}\" y2=\"{0:.2f}\"/>"
        "<text x=\"-6\" y=\"{2:.2f}\" text-anchor=\"end\">{3:g}</text>\n",
        down(axes, y), kWide, down(axes, y) + 4.0, y);
  }
  return text;
}

std::string line_of(const Plot& plot, const Axes& axes, std::size_t number) {
  const PlotLine& line = plot.lines[number];
  const std::size_t colour = number % 4;
  std::string points;
  for (const PlotPoint& point : line.points) {
    const double x = plot.log_x ? std::log10(point.x) : point.x;
    points += fmt::format("{}{:.2f},{:.2f}", points.empty() ? "" : " ", across(axes, x),
                          down(axes, point.y));
  }
  const std::string name = xml_text(line.name);
  const double left = 150.0 * static_cast<double>(number);
  return fmt::format(
      "<polyline class=\"line\" style=\"stroke:var(--c{0})\"{1} data-name=\"{2}\" "
      "points=\"{3}\"/>\n"
      "<line class=\"line\" style=\"stroke:var(--c{0})\"{1} x1=\"{4:g}\" y1=\"-8\" x2=\"{5:g}\" "
      "y2=\"-8\"/><text x=\"{6:g}\" y=\"-4\">{2}</text>\n",
      colour, line.dashed ? " stroke-dasharray=\"5 4\"" : "", name, points, left, left + 20.0,
      left + 25.0);
}

/// Length of the UTF-8 character at `at`, 0: XML does not allow these bytes.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  if (is_control(text, at)) return 0;
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(1);
  const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F) ||
                   (first == 0xEF && second == 0xBF && byte(2) >= 0xBE);
  return bad ? 0 : length;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
    if (length == 0) {
      safe += '?';
    } else if (character == "&") {
      safe += "&amp;";
    } else if (character == "<") {
      safe += "&lt;";
    } else if (character == ">") {
      safe += "&gt;";
    } else if (character == "\"") {
      safe += "&quot;";
    } else {
      safe += character;
    }
    at += character.size();
  }
  return safe;
}

std::string svg_of(const Plot& plot) {
  const Axes axes = axes_of(plot);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 700 400\" role=\"img\">\n"
      "<title>{0}</title>\n{1}<text x=\"60\" y=\"18\" style=\"font-weight:bold\">{0}</text>\n"
      "<g id=\"plot\" transform=\"translate(60 50)\" data-x0=\"{2}\" data-x1=\"{3}\" "
      "data-y1=\"{4}\">\n",
      xml_text(plot.title), kStyle, axes.x0, axes.x1, axes.y1);
  text += grid_of(plot, axes);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) text += line_of(plot, axes, i);
  text += fmt::format(
      "<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>\n"
      "<text transform=\"translate(-46 {:g}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      kWide / 2, kHigh + 36.0, xml_text(plot.x_label), kHigh / 2, xml_text(plot.y_label));
  return text + "</g>\n</svg>\n";
}

}  // namespace berth::sim
