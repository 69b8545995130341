// SPDX-License-Identifier: Apache-2.0
// Options out of range, as option_ranges_test, of schedulers that learn and of STRADS.
#include "elastic_world.hpp"
#include "option_ranges.hpp"

#include <utility>

#include "berth/papers/berth_elastic.hpp"
#include "berth/papers/loss_prediction.hpp"
#include "berth/papers/ones.hpp"
#include "berth/papers/quality_allocation.hpp"
#include "berth/speed/coded_gang.hpp"
#include "berth/strads/commit.hpp"
#include "berth/strads/schedule.hpp"

namespace berth::papers {
namespace {

using testing::expect_ranges;
using testing::kNan;
using testing::whole;

TEST(OptionRanges, Slaq) {
  const std::vector<LossPoint> points = {{0, 1.0}, {1, 0.5}, {2, 0.25}};
  const auto fit = [&](LossFitOptions options) { (void)fit_loss_curve(points, options); };
  expect_ranges({
      {"slaq: decay",
       "above 0 and at most 1",
       [&](double v) { fit({.decay = v}); },
       {0, 1.1, kNan},
       {0.5, 1}},
      {"slaq: window",
       "at least 2",
       [&](double v) { fit({.window = static_cast<std::size_t>(v)}); },
       {0, 1},
       {2}},
      {"slaq: window",
       "at least 2",
       [&](double v) { LossHistory history({.window = static_cast<std::size_t>(v)}); },
       {1},
       {2}},
      {"slaq: cores",
       "at least 0",
       [](double v) { (void)divide_by_quality({}, whole(v)); },
       {-1},
       {0}},
      {"slaq: cores",
       "at least 0",
       [](double v) { (void)divide_equally({}, whole(v)); },
       {-1},
       {0}},
  });
}

TEST(OptionRanges, Ones) {
  const test::ElasticWorld world(std::vector<test::ElasticRow>(1));
  const auto with = [&](const auto& change) {
    return [&world, change](double value) {
      OnesOptions options;
      change(options, value);
      (void)make_ones(world.world(), world.training(10.0), options);
    };
  };
  const auto trained = [&](const auto& change) {
    return [&world, change](double value) {
      auto training = world.training(10.0);
      change(training[0], value);
      (void)make_ones(world.world(), std::move(training), {});
    };
  };
  expect_ranges({
      {"ones: population",
       "at least 1",
       with([](OnesOptions& o, double v) { o.evolution.population = static_cast<std::size_t>(v); }),
       {0},
       {1}},
      {"ones: crossover",
       "at least 0 and at most 1",
       with([](OnesOptions& o, double v) { o.evolution.crossover = v; }),
       {-0.1, 1.1, kNan},
       {0, 1}},
      {"ones: mutation",
       "at least 0 and at most 1",
       with([](OnesOptions& o, double v) { o.evolution.mutation = v; }),
       {-0.1, 1.1},
       {0, 1}},
      {"ones: generation",
       "above 0",
       with([](OnesOptions& o, double v) { o.generation = whole(v); }),
       {0, -1},
       {1}},
      {"ones: sigma",
       "at least 0",
       with([](OnesOptions& o, double v) { o.sigma = v; }),
       {-1, kNan},
       {0}},
      {"ones: growth",
       "at least 1",
       with([](OnesOptions& o, double v) { o.growth = whole(v); }),
       {0},
       {1}},
      {"ones: epochs_at_limit",
       "at least 0",
       with([](OnesOptions& o, double v) { o.epochs_at_limit = v; }),
       {-1},
       {0}},
      {"ones: epochs_in_place",
       "at least 0",
       with([](OnesOptions& o, double v) { o.epochs_in_place = v; }),
       {-1},
       {0}},
      {"ones: most_points",
       "at least 1",
       with([](OnesOptions& o, double v) { o.monitor.most_points = static_cast<std::size_t>(v); }),
       {0},
       {1}},
      {"ones: least_epochs",
       "at least 0",
       with([](OnesOptions& o, double v) { o.monitor.least_epochs = v; }),
       {-1},
       {0}},
      {"ones: measurements",
       "at least 1",
       with([](OnesOptions& o, double v) { o.monitor.measurements = static_cast<std::size_t>(v); }),
       {0},
       {1}},
      {"ones: hidden",
       "at least 1",
       with([](OnesOptions& o, double v) {
         o.monitor.predictor.hidden = static_cast<std::size_t>(v);
       }),
       {0},
       {1}},
      {"ones: passes",
       "at least 0",
       with([](OnesOptions& o, double v) { o.monitor.predictor.passes = whole(v); }),
       {-1},
       {0}},
      {"ones: batch",
       "at least 1",
       with([](OnesOptions& o, double v) {
         o.monitor.predictor.batch = static_cast<std::size_t>(v);
       }),
       {0},
       {1}},
      {"ones: rate",
       "above 0",
       with([](OnesOptions& o, double v) { o.monitor.predictor.rate = v; }),
       {0, kNan},
       {1e-4}},
      {"ones: decay",
       "at least 0",
       with([](OnesOptions& o, double v) { o.monitor.predictor.decay = v; }),
       {-1},
       {0}},
      {"ones: redraws",
       "at least 0",
       with([](OnesOptions& o, double v) { o.monitor.predictor.redraws = whole(v); }),
       {-1},
       {0}},
      {"job j0: epoch_samples",
       "above 0",
       trained([](TrainingJob& j, double v) { j.epoch_samples = v; }),
       {0, -1},
       {1}},
      {"job j0: base_batch",
       "at least 1",
       trained([](TrainingJob& j, double v) { j.base_batch = whole(v); }),
       {0},
       {1}},
      {"job j0: rate_ratio",
       "at least 1",
       trained([](TrainingJob& j, double v) { j.rate_ratio = v; }),
       {0.5, kNan},
       {1}},
      {"ones: epoch_seconds",
       "above 0",
       [&](double v) { (void)default_training(world.world(), v); },
       {0, -1},
       {30}},
      {"optimus-elastic: interval",
       "above 0",
       [&](double v) { (void)make_optimus_elastic(world.world(), whole(v)); },
       {0, -1},
       {1}},
  });
}

TEST(OptionRanges, CodedGangs) {
  using namespace speed;
  expect_ranges({
      {"coded gangs: k",
       "at least 1 and at most 4",
       [](double v) { (void)coded_time(4, whole(v), 1.0); },
       {0, 5},
       {1, 4}},
      {"coded gangs: tail",
       "above 0",
       [](double v) { (void)coded_time(4, 2, v); },
       {0, -1, kNan},
       {0.1}},
      {"coded gangs: n",
       "at least 1",
       [](double v) { (void)best_k_of(whole(v), 1.0); },
       {0, -1},
       {1}},
      {"coded gangs: copies",
       "at least 1 and at most 4",
       [](double v) { (void)replicated_time(4, whole(v), 1.0); },
       {0, 8},
       {1, 4}},
      {"coded gangs: tail", "above 0", [](double v) { (void)coded_limit(v); }, {0, kNan}, {0.1}},
  });
}

TEST(OptionRanges, Strads) {
  const std::vector<strads::Block> blocks = {{.id = 0, .importance = 1.0}};
  const std::vector<std::int64_t> loads = {3, 1};
  expect_ranges({
      {"strads: floor",
       "above 0",
       [&](double v) { (void)strads::schedule(blocks, 1, 0, 1, {.floor = v}); },
       {0, -1, kNan},
       {0.1}},
      {"strads: workers",
       "at least 1",
       [&](double v) { (void)strads::dispatch(loads, whole(v)); },
       {0, -1},
       {1}},
      {"strads: theta",
       "at least 0 and below 1",
       [](double v) {
         strads::Versions versions;
         strads::CommitLog log({});
         (void)strads::commit({}, versions, log, v);
       },
       {-0.1, 1, kNan},
       {0, 0.9}},
  });
}

}  // namespace
}  // namespace berth::papers
