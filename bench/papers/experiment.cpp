// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"

#include <fmt/format.h>

#include "berth/papers/paired_statistics.hpp"

namespace berth::bench {
namespace {

/// First row of the same setting and metric.
const ResultRow& reference_of(std::span<const ResultRow> rows, const ResultRow& row) {
  for (const ResultRow& other : rows) {
    if (other.setting == row.setting && other.metric == row.metric) return other;
  }
  return row;
}

struct Compared {
  papers::Interval own, difference;
  double ratio = 1.0;
};

Compared compare(std::span<const ResultRow> rows, const ResultRow& row) {
  const ResultRow& reference = reference_of(rows, row);
  Compared result;
  result.own = papers::mean_interval(row.by_seed);
  result.difference = papers::paired_difference(row.by_seed, reference.by_seed);
  result.ratio = result.own.mean / papers::mean_interval(reference.by_seed).mean;
  return result;
}

}  // namespace

std::string csv_of(std::span<const ResultRow> rows) {
  std::string text =
      "setting,metric,scheduler,seeds,mean,half_width,difference,difference_half_width,ratio\n";
  for (const ResultRow& row : rows) {
    const Compared c = compare(rows, row);
    text += fmt::format("\"{}\",\"{}\",\"{}\",{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", row.setting,
                        row.metric, row.scheduler, row.by_seed.size(), c.own.mean, c.own.half_width,
                        c.difference.mean, c.difference.half_width, c.ratio);
  }
  return text;
}

std::string markdown_of(std::span<const ResultRow> rows) {
  std::string text =
      "| setting | metric | scheduler | mean | to the first, paired | ratio |\n"
      "|---|---|---|---|---|---|\n";
  for (const ResultRow& row : rows) {
    const Compared c = compare(rows, row);
    const bool first = &reference_of(rows, row) == &row;
    text += fmt::format(
        "| {} | {} | {} | {:.4g} +- {:.2g} | {} | {} |\n", row.setting, row.metric, row.scheduler,
        c.own.mean, c.own.half_width,
        first ? std::string("-")
              : fmt::format("{:+.3g} +- {:.2g}", c.difference.mean, c.difference.half_width),
        first ? std::string("1") : fmt::format("{:.3f}", c.ratio));
  }
  return text;
}

std::string plot_of(std::string_view name, std::span<const ResultRow> rows) {
  std::string text = fmt::format(
      "set terminal svg size 900,480\nset output \"{}.svg\"\nset style data histograms\n"
      "set style fill solid\nset yrange [0:*]\nset ylabel \"ratio to the first scheduler\"\n"
      "set xtics rotate by -30\nunset key\n$data << END\n",
      name);
  for (const ResultRow& row : rows) {
    text +=
        fmt::format("\"{}: {}\" {:.6g}\n", row.setting, row.scheduler, compare(rows, row).ratio);
  }
  return text + "END\nplot $data using 2:xtic(1)\n";
}

}  // namespace berth::bench
