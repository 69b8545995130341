// SPDX-License-Identifier: Apache-2.0
#include "../table_rows.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace berth::report {
namespace {

/// An amount of the certificate in units of the objective.
double in_units(const model::Certificate& prices, std::int64_t amount) {
  return std::ldexp(static_cast<double>(amount), -prices.scale_log2);
}

/// Price of a GPU of the queue's quota; negative: none is known.
double quota_price(const PageContent& content, std::size_t queue) {
  if (content.prices == nullptr) return -1.0;
  for (const auto& limit : content.prices->limits) {
    if (limit.kind == model::LimitKind::gpu_quota && limit.scope.queue.index() == queue) {
      return 1000.0 * in_units(*content.prices, limit.price);
    }
  }
  return 0.0;
}

std::size_t depth(const model::Cluster& cluster, std::size_t queue) {
  std::size_t result = 0;
  for (QueueId q = cluster.queues[queue].parent; q.valid(); q = cluster.queues[q.index()].parent) {
    ++result;
  }
  return result;
}

/// Prices of the pools of one class of machines, in the order of pods and racks.
struct ClassPrices {
  ClassId machine_class;
  std::vector<double> prices;
};

std::vector<ClassPrices> class_prices(const model::Certificate& prices) {
  std::map<std::size_t, std::vector<std::tuple<std::size_t, std::size_t, double>>> by_class;
  for (const auto& pool : prices.pools) {
    by_class[pool.machine_class.index()].emplace_back(pool.pod.index(),
                                                      pool.rack.valid() ? pool.rack.index() : 0,
                                                      1000.0 * in_units(prices, pool.gpu_milli));
  }
  std::vector<ClassPrices> result;
  for (auto& [c, pools] : by_class) {
    std::ranges::sort(pools);
    result.push_back({ClassId(c), {}});
    for (const auto& [pod, rack, price] : pools) result.back().prices.push_back(price);
  }
  return result;
}

/// The prices as a small line, drawn from at most 200 of them.
std::string price_line(const std::vector<double>& prices, double most) {
  const std::size_t step = 1 + prices.size() / 200;
  std::string points;
  for (std::size_t i = 0; i < prices.size(); i += step) {
    points += fmt::format(
        "{:.1f},{:.1f} ",
        prices.size() < 2 ? 0.0
                          : 100.0 * static_cast<double>(i) / static_cast<double>(prices.size() - 1),
        most > 0.0 ? 15.0 - 14.0 * prices[i] / most : 15.0);
  }
  if (prices.size() == 1) points += "100," + points.substr(points.find(',') + 1);
  return "<svg class=\"spark\" viewBox=\"0 0 100 16\" preserveAspectRatio=\"none\" "
         "aria-hidden=\"true\"><polyline class=\"line line0\" points=\"" +
         points + "\"/></svg>";
}

std::string pool_rows(const PageContent& content) {
  const model::Cluster& cluster = content.now.instance.cluster;
  std::vector<ClassPrices> classes = class_prices(*content.prices);
  double most = 0.0;
  for (const ClassPrices& c : classes) most = std::max(most, std::ranges::max(c.prices));
  if (classes.empty()) return {};
  const bool racks = content.prices->level == model::Level::rack;
  HtmlTable table(racks ? "Price of a GPU by class of machines, rack by rack"
                        : "Price of a GPU by class of machines, pod by pod",
                  {"class", "GPU type", "pools", "lowest", "median", "highest", "in order"}, 2);
  for (const ClassPrices& c : classes) {
    const model::MachineClass& machines = cluster.classes[c.machine_class.index()];
    std::vector<double> sorted = c.prices;
    std::ranges::sort(sorted);
    table.add({html_name(machines.name),
               machines.gpu_type.valid() ? html_name(cluster.gpu_types[machines.gpu_type.index()])
                                         : "no GPUs",
               fmt::format("{}", sorted.size()), fmt::format("{:.4g}", sorted.front()),
               fmt::format("{:.4g}", sorted[sorted.size() / 2]),
               fmt::format("{:.4g}", sorted.back()), price_line(c.prices, most)});
  }
  return table.text();
}

std::string limit_rows(const PageContent& content) {
  const model::Cluster& cluster = content.now.instance.cluster;
  std::vector<const model::Certificate::LimitPrice*> order;
  for (const auto& limit : content.prices->limits) {
    if (limit.price > 0) order.push_back(&limit);
  }
  if (order.empty()) return {};
  std::ranges::stable_sort(order, [](const auto* a, const auto* b) { return a->price > b->price; });
  constexpr std::size_t kMostRows = 40;
  HtmlTable table("Limits that jobs pay for, the dearest first", {"limit", "of", "price", "per"},
                  2);
  for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
    const model::LimitRow& row = model::row_of(order[i]->kind);
    table.add({html(row.title), html_name(order[i]->scope.name(cluster)),
               fmt::format("{:.6g}", in_units(*content.prices, order[i]->price)), html(row.unit)});
  }
  return table.text();
}

/// Prices over time of a plan with a horizon.
std::string curves_of_time(const model::RawHorizonPlan& plan) {
  if (!plan.certificate || plan.certificate->nodes.empty()) return {};
  const auto& nodes = plan.certificate->nodes;
  std::vector<ChartLine> lines;
  for (const model::PriceCurves::Curve& curve : plan.certificate->curves) {
    if (lines.size() == 6) break;
    ChartLine line{.name = curve.gpu_type, .x = {}, .y = {}};
    for (std::size_t i = 0;
         i + 1 < nodes.size() && i < curve.starts.size() && i < curve.slopes.size(); ++i) {
      const auto price = [&](std::int64_t t) {
        return 3600.0 * std::ldexp(static_cast<double>(curve.starts[i]) +
                                       static_cast<double>(curve.slopes[i]) *
                                           static_cast<double>(t - nodes[i]),
                                   -32);
      };
      for (const std::int64_t t : {nodes[i], nodes[i + 1]}) {
        line.x.push_back(static_cast<double>(t - plan.now) / 3600.0);
        line.y.push_back(price(t));
      }
    }
    lines.push_back(std::move(line));
  }
  return chart("Price of a GPU-hour by GPU type", "hours from now", lines, false);
}

}  // namespace

std::string queue_section(const PageContent& content) {
  const model::Cluster& cluster = content.now.instance.cluster;
  if (cluster.queues.empty()) return {};
  const std::vector<QueueUse> uses = queue_uses(content.now);
  HtmlTable table("Queues, each with the queues below it",
                  {"queue", "quota", "used", "used %", "", "a GPU costs", "placed", "waiting"});
  for (const std::size_t q : queue_order(cluster)) {
    const std::int64_t quota = cluster.queues[q].gpu_quota, used = uses[q].pinned + uses[q].planned;
    const double price = quota_price(content, q);
    table.add(
        {fmt::format("<span class=\"level{}\">{}</span>",
                     std::min<std::size_t>(depth(cluster, q), 6),
                     html_name(cluster.queues[q].name)),
         quota < 0 ? "-" : fmt::format("{}", quota),
         figure("queue." + cluster.queues[q].name, static_cast<double>(used) / 1000.0,
                devices(used)),
         quota < 0 ? "-" : percent(used, 1000 * quota),
         quota <= 0 ? "" : bar(static_cast<double>(used) / (1000.0 * static_cast<double>(quota))),
         price < 0.0 ? "-" : fmt::format("{:.4g}", price), fmt::format("{}", uses[q].placed),
         fmt::format("{}", uses[q].waiting)});
  }
  return section("queues", "Quotas", table.text());
}

std::string price_section(const PageContent& content) {
  std::string body;
  if (content.in_time != nullptr) body = curves_of_time(*content.in_time);
  if (content.prices != nullptr) {
    if (content.prices->whole_jobs.in_cluster()) {
      body += fmt::format("<p>A GPU anywhere in the cluster costs {:.6g} more.</p>\n",
                          1000.0 * in_units(*content.prices, content.prices->whole_jobs.gpu_milli));
    }
    body += pool_rows(content) + limit_rows(content);
  }
  if (body.empty()) return {};
  return section(
      "prices", "Prices",
      "<p>Prices prove the bound: where they are high, GPUs are scarce. They are in units "
      "of the objective.</p>\n" +
          body);
}

}  // namespace berth::report
