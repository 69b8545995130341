// SPDX-License-Identifier: Apache-2.0
#include "ones_world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "berth/base/random.hpp"
#include "berth/papers/berth_elastic.hpp"
#include "berth/papers/quality_bound.hpp"
#include "berth/sim/world_speeds.hpp"

namespace berth::bench {
namespace {

constexpr std::int32_t kPerMachine = 4;
constexpr std::int32_t kMostGpus = 64;

/// Model and data: speeds as on one GPU of the artifact's class, ours.
struct Pair {
  std::int64_t base_batch;
  double samples_per_second;
  double sync_local, sync;  ///< seconds of an all-reduce in a machine, and over several
  double epoch_low, epoch_high;
  double epochs_low, epochs_high;
  double rate_ratio;
  double first_loss;
};

constexpr std::array<Pair, 10> kPairs{{
    {32, 110, 0.020, 0.030, 1e4, 2e4, 15, 40, 16, 4.6},    // ResNet50, ImageNet subset
    {32, 75, 0.020, 0.030, 1e4, 2e4, 15, 40, 16, 4.6},     // InceptionV3
    {32, 70, 0.100, 0.150, 1e4, 2e4, 15, 40, 16, 4.6},     // VGG16
    {128, 900, 0.050, 0.070, 1e4, 2e4, 15, 40, 16, 4.6},   // AlexNet
    {128, 2500, 0.010, 0.015, 2e4, 4e4, 15, 40, 16, 2.3},  // ResNet18, CIFAR-10
    {128, 2200, 0.012, 0.018, 2e4, 4e4, 15, 40, 16, 2.3},  // VGG16
    {64, 900, 0.006, 0.010, 2e4, 4e4, 15, 40, 16, 2.3},    // GoogLeNet
    {16, 80, 0.090, 0.130, 8.5e3, 8.6e3, 6, 15, 4, 0.69},  // BERT, CoLA
    {16, 80, 0.090, 0.130, 3.6e3, 3.7e3, 6, 15, 4, 0.69},  // BERT, MRPC
    {32, 90, 0.090, 0.130, 1.5e4, 2.5e4, 6, 15, 8, 0.69},  // BERT, SST-2
}};

double between(double low, double high, double part) { return low + (high - low) * part; }

/// GPUs requested: 16, 4, 2, 8 by 40, 30, 20, 10 % of the jobs.
std::int32_t requested(double part) {
  if (part < 0.4) return 16;
  if (part < 0.7) return 4;
  return part < 0.9 ? 2 : 8;
}

std::int64_t usual_batch(const papers::TrainingJob& job, std::int32_t gpus) {
  return speed::ones_batch(gpus, job.base_batch, 1.0, job.rate_ratio).per_gpu * gpus;
}

/// Row of the configurations with any number of GPUs; the one asked for is first, which policies of
/// fixed sizes run.
std::uint32_t sizes_of(model::Workload& workload, std::int32_t asked, std::int32_t most) {
  std::vector<model::Configuration> sizes{{.counts = {asked}}};
  for (std::int32_t gpus = 1; gpus <= most; ++gpus) {
    if (gpus != asked) sizes.push_back({.counts = {gpus}});
  }
  auto& rows = workload.configurations;
  const auto at = std::ranges::find(rows, sizes);
  const auto row = static_cast<std::uint32_t>(at - rows.begin());
  if (at == rows.end()) rows.push_back(std::move(sizes));
  return row;
}

/// Useful samples/s with any batch that some number of GPUs may have.
double most_goodput(const speed::ElasticBatchJob& profile, const papers::TrainingJob& job,
                    std::int32_t gpus) {
  const std::int32_t machines = (gpus + kPerMachine - 1) / kPerMachine;
  double most = 0.0;
  for (std::int32_t batches = 1; batches <= job.rate_ratio; ++batches) {
    const auto batch = static_cast<double>(batches * job.base_batch);
    most = std::max(most, batch / profile.time.seconds(batch, gpus, machines) *
                              speed::statistical_efficiency(profile.noise[0].noise_scale,
                                                            profile.smallest_batch, batch));
  }
  return most;
}

void add_machines(model::Cluster& cluster, int machines) {
  cluster.gpu_types.emplace_back("rtx");
  cluster.classes.push_back(
      {"node", GpuTypeId(std::size_t{0}), kPerMachine, model::machine_capacity({0, 0})});
  cluster.pods.push_back({.name = "pod"});
  cluster.racks.push_back({.name = "rack", .pod = PodId(std::size_t{0})});
  for (int m = 0; m < machines; ++m) {
    cluster.machine_names.add("m" + std::to_string(m));
    cluster.machine_class.emplace_back(std::size_t{0});
    cluster.machine_rack.emplace_back(std::size_t{0});
  }
}

}  // namespace

OnesWorld::Drawn OnesWorld::draw(const OnesSetting& setting, std::uint64_t seed,
                                 std::uint64_t job) {
  const auto unit = [&](std::uint64_t which) { return random_unit({seed, job, which}); };
  const Pair& pair = kPairs[random_below(kPairs.size(), {seed, job, 0})];
  Drawn drawn;
  drawn.training = {.epoch_samples = between(pair.epoch_low, pair.epoch_high, unit(1)),
                    .base_batch = pair.base_batch,
                    .rate_ratio = pair.rate_ratio,
                    .curve = {.first_loss = pair.first_loss,
                              .loss_gain = between(0.6, 0.95, unit(2)),
                              .accuracy = between(0.6, 0.95, unit(3)),
                              .steepness = between(1.0, 8.0, unit(4))}};
  const double epochs = std::round(between(pair.epochs_low, pair.epochs_high, unit(5)));
  drawn.samples = epochs * drawn.training.epoch_samples;
  const auto batch = static_cast<double>(pair.base_batch);
  drawn.profile.time = {.compute_per_sample = 1.0 / (pair.samples_per_second * setting.faster),
                        .sync_local_fixed = pair.sync_local,
                        .sync_fixed = pair.sync};
  drawn.profile.smallest_batch = batch;
  constexpr double kNoLoss = 1e12;
  drawn.profile.noise = {
      {.work = 0.0,
       .noise_scale = setting.noise_batches > 0 ? setting.noise_batches * batch : kNoLoss}};
  return drawn;
}

void OnesWorld::add_job(const OnesSetting& setting, std::uint64_t seed, std::uint64_t job,
                        double arrival) {
  Drawn drawn = draw(setting, seed, job);
  const std::int32_t most = std::min(kMostGpus, kPerMachine * setting.machines);
  const std::int32_t gpus = std::min(requested(random_unit({seed, job, 6})), most);
  speed::ElasticBatchJob& profile = drawn.profile;
  const std::int64_t base = drawn.training.base_batch;
  profile.batch = static_cast<double>(setting.grown ? usual_batch(drawn.training, gpus) : base);
  profile.reference =
      profile.batch /
      profile.time.seconds(profile.batch, gpus, (gpus + kPerMachine - 1) / kPerMachine) *
      speed::statistical_efficiency(profile.noise[0].noise_scale, profile.smallest_batch,
                                    profile.batch);
  model::Workload& workload = instance.workload;
  workload.job_names.add("j" + std::to_string(job));
  model::TimeRules rules;
  rules.duration = std::max<std::int64_t>(1, std::llround(drawn.samples / profile.reference));
  rules.configurations = sizes_of(workload, gpus, most);
  model::Job& added = workload.jobs.emplace_back();
  added.first_group = static_cast<std::uint32_t>(workload.groups.size());
  added.groups = 1;
  added.arrival = std::llround(arrival);
  added.time = static_cast<std::uint32_t>(workload.time_rules.size());
  workload.groups.push_back({ShapeId(std::size_t{0}), gpus, 0});
  workload.time_rules.push_back(rules);
  profiles.jobs.push_back({.kind = speed::ProfileKind::goodput});
  profiles.goodputs.push_back(profile);
  training.push_back(drawn.training);
}

/// Epochs of twenty jobs of the same kind, as the artifact ships them.
void OnesWorld::add_history(const OnesSetting& setting, std::uint64_t seed) {
  constexpr std::uint64_t kJobs = 20, kFirst = 1'000'000;
  for (std::uint64_t j = 0; j < kJobs; ++j) {
    const Drawn drawn = draw(setting, seed, kFirst + j);
    const double all = drawn.samples / drawn.training.epoch_samples;
    for (double epochs = 1.0; epochs < all; epochs += 1.0) {
      history.push_back(
          {.features = papers::training_features(drawn.training, epochs, epochs / all),
           .epochs = epochs,
           .progress = epochs / all});
    }
  }
}

OnesWorld::OnesWorld(const OnesSetting& setting, std::uint64_t seed) {
  add_machines(instance.cluster, setting.machines);
  model::Workload& workload = instance.workload;
  workload.labels = {"worker"};
  workload.shapes = {{.needs = {}, .gpus = 1}};
  double arrival = 0.0;
  for (std::uint64_t j = 0; j < setting.jobs; ++j) {
    add_job(setting, seed, j, arrival);
    const double normal = papers::draw_normal({seed, j, 7}, 0);
    arrival += std::max(1.0, setting.gap * (1.0 + setting.spread * normal));
  }
  add_history(setting, seed);
}

std::vector<double> OnesWorld::run(policy::Policy& policy, double restart, double change) {
  const sim::WorldSpeeds speeds(instance, profiles, 0.0);
  const auto micros = [](double seconds) {
    return static_cast<sim::Micros>(std::llround(seconds * sim::kSecond));
  };
  sim::ReplayOptions options;
  options.restart_cost = micros(restart);
  options.move_cost = options.resize_cost = micros(change);
  const sim::Trace trace = sim::make_trace(instance, options, &speeds);
  const sim::World world{.speeds = &speeds};
  const sim::Run run = sim::simulate(instance.cluster, trace, policy, {}, world);
  std::vector<double> times;
  for (const model::JobRecord& record : run.records) {
    times.push_back(static_cast<double>(record.end() - record.arrival) /
                    static_cast<double>(sim::kSecond));
  }
  return times;
}

std::vector<double> OnesWorld::most_rates(std::size_t job) const {
  const JobId id(job);
  const model::TimeRules& rules = instance.workload.time_of(instance.workload.job(id));
  const std::size_t largest = instance.workload.configurations[rules.configurations].size();
  std::vector<double> rates;
  for (std::size_t gpus = 1; gpus <= largest; ++gpus) {
    rates.push_back(
        most_goodput(profiles.goodputs[job], training[job], static_cast<std::int32_t>(gpus)) /
        profiles.goodputs[job].reference);
  }
  return rates;
}

double OnesWorld::least_mean() const {
  const auto cores = static_cast<double>(papers::gpu_line(instance.cluster).size());
  std::vector<papers::FluidJob> fluid;
  double alone = 0.0;
  for (std::size_t j = 0; j < instance.workload.size(); ++j) {
    const JobId id(j);
    const model::TimeRules& rules = instance.workload.time_of(instance.workload.job(id));
    double fastest = 0.0, thriftiest = 0.0, gpus = 0.0;
    for (const double rate : most_rates(j)) {
      fastest = std::max(fastest, rate);
      thriftiest = std::max(thriftiest, rate / ++gpus);
    }
    const auto work = static_cast<double>(rules.duration);
    alone += work / fastest;
    fluid.push_back({.release = static_cast<double>(instance.workload.job(id).arrival),
                     .pieces = {{.work = work / thriftiest, .value = 1.0}}});
  }
  const double one_machine = papers::least_flow(fluid, cores, cores);
  return std::max(alone, one_machine) / static_cast<double>(fluid.size());
}

}  // namespace berth::bench
