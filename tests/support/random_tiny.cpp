// SPDX-License-Identifier: Apache-2.0
#include "random_tiny.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::test {
namespace {

model::Factors falling(Dice& dice) {
  const double pod = static_cast<double>(dice.one_of({50, 75, 90, 100})) / 100.0;
  const double cluster = pod * static_cast<double>(dice.one_of({25, 75, 100})) / 100.0;
  return {1.0, 1.0, pod, cluster};
}

TinyTask random_task(Dice& dice) {
  TinyTask t{.count = static_cast<std::int32_t>(dice.one_of({1, 1, 1, 2, 3})),
             .cpu_milli = dice.one_of({0, 500, 1000, 2000, 3000}),
             .memory_mib = dice.one_of({0, 0, 100, 300})};
  const std::int64_t kind = dice.below(10);
  if (kind < 4) {
    t.gpus = static_cast<std::int32_t>(dice.one_of({1, 1, 2, 3}));
  } else if (kind < 8) {
    t.gpu_milli = static_cast<std::int32_t>(dice.one_of({200, 300, 400, 500, 600, 750}));
  }
  return t;
}

void random_cluster(Dice& dice, Tiny& tiny) {
  const GpuTypeId x = tiny.type("X"), y = tiny.type("Y");
  tiny.type("absent");
  const std::vector<ClassId> classes{
      tiny.machine_class("x", x, static_cast<std::int32_t>(dice.one_of({1, 2, 3})),
                         dice.one_of({2000, 4000, 6000}), dice.one_of({300, 600})),
      tiny.machine_class("y", y, static_cast<std::int32_t>(dice.one_of({1, 2})),
                         dice.one_of({1000, 4000}), dice.one_of({200, 600})),
      tiny.machine_class("plain", {}, 0, dice.one_of({2000, 4000}), 500)};
  std::int64_t machines = dice.one_of({1, 1, 2, 2, 3, 4});
  const auto fill_rack = [&] {
    tiny.rack();
    for (std::int64_t n = dice.below(machines + 1); n > 0; --n, --machines) {
      tiny.machine(classes[static_cast<std::size_t>(dice.one_of({0, 0, 0, 1, 1, 2}))]);
    }
  };
  tiny.pod();
  fill_rack();
  fill_rack();
  tiny.pod();
  fill_rack();
  for (; machines > 0; --machines) tiny.machine(classes[0]);
}

void random_job(Dice& dice, Tiny& tiny, const std::vector<TinyTask>& palette) {
  const auto drawn = [&] {
    return palette[static_cast<std::size_t>(dice.below(std::ssize(palette)))];
  };
  std::vector<TinyTask> tasks{drawn()};
  if (dice.chance(35)) tasks.push_back(drawn());
  model::Job& job = tiny[tiny.job(tasks)];
  job.domain = static_cast<model::Level>(dice.one_of({0, 1, 2, 3, 3, 3}));
  job.weight = static_cast<double>(dice.one_of({4, 4, 4, 5, 7, 30})) / 4.0;
  if (dice.chance(30)) job.value = static_cast<double>(dice.below(20)) / 4.0;
  if (dice.chance(30)) job.gpu_types = static_cast<std::uint64_t>(1 + dice.below(7));
  if (dice.chance(40)) {
    job.speed = tiny.speeds({static_cast<double>(dice.one_of({50, 100, 160})) / 100.0,
                             static_cast<double>(dice.one_of({25, 100, 230})) / 100.0, 1.0});
  }
  if (dice.chance(30))
    job.home_rack = RackId(static_cast<std::int32_t>(dice.below(3)));
  else if (dice.chance(30))
    job.home_pod = PodId(static_cast<std::int32_t>(dice.below(2)));
  if (dice.chance(80)) job.home_factor = tiny.factors(falling(dice));
  if (dice.chance(40)) {
    model::Factors spread = falling(dice);
    const double rack = static_cast<double>(dice.one_of({60, 100})) / 100.0;
    for (std::size_t w = 1; w < spread.size(); ++w) spread[w] *= rack;
    job.width_factor = tiny.factors(spread);
  }
  job.required = dice.chance(8);
}

}  // namespace

model::Instance random_tiny(Dice& dice) {
  Tiny tiny;
  random_cluster(dice, tiny);
  std::vector<TinyTask> palette;  // few kinds of tasks: equal ones compete, and bounds get tight
  for (std::int64_t n = dice.one_of({1, 2, 3, 5}); n > 0; --n) palette.push_back(random_task(dice));
  for (std::int64_t n = dice.one_of({1, 3, 4, 5, 6, 6}); n > 0; --n) {
    random_job(dice, tiny, palette);
  }
  return tiny.instance;
}

model::Instance random_gangs(Dice& dice) {
  Tiny tiny;
  const auto gpus = static_cast<std::int32_t>(dice.one_of({1, 1, 2}));
  const ClassId machine_class = tiny.machine_class("x", tiny.type("X"), gpus, 4000, 600);
  tiny.type("absent");
  tiny.pod();
  for (std::int64_t machines = 3 + dice.below(4); machines > 0;) {
    tiny.rack();
    const std::int64_t here = std::min(machines, 1 + dice.below(3));
    for (std::int64_t n = 0; n < here; ++n) tiny.machine(machine_class);
    machines -= here;
  }
  for (std::int64_t n = 3 + dice.below(4); n > 0; --n) {
    const bool single = dice.chance(45), plain = single && dice.chance(40);
    const TinyTask task{.count = static_cast<std::int32_t>(single ? 1 : dice.one_of({2, 2, 3})),
                        .gpus = plain    ? 0
                                : single ? static_cast<std::int32_t>(1 + dice.below(gpus))
                                         : gpus,
                        .cpu_milli = plain ? 2000 : dice.one_of({0, 0, 1000})};
    model::Job& job = tiny[tiny.job({task})];
    job.domain = static_cast<model::Level>(dice.one_of({1, 2, 3, 3}));
    job.value = static_cast<double>((task.count * task.gpus + 1) * (6 + dice.below(7))) / 4.0;
    if (dice.chance(80)) job.width_factor = tiny.factors(falling(dice));
    job.required = dice.chance(5);
  }
  return tiny.instance;
}

model::Instance with_more_limits(Dice& dice, model::Instance instance) {
  for (model::MachineClass& c : instance.cluster.classes) {
    for (std::size_t r = model::kRequiredResources; r < model::kResources; ++r) {
      if (dice.chance(60)) c.capacity[r] = dice.one_of({0, 1000, 1500, 2000, 3000});
    }
    if (c.gpus > 0) c.gpu_slices = static_cast<std::int32_t>(dice.one_of({0, 0, 1, 2, 3, 4, 7}));
  }
  for (model::Shape& s : instance.workload.shapes) {
    for (std::size_t r = model::kRequiredResources; r < model::kResources; ++r) {
      s.needs[r] = dice.one_of({0, 0, 500, 700, 1000});
    }
  }
  return instance;
}

model::Instance with_power_budgets(Dice& dice, model::Instance instance) {
  for (model::Shape& s : instance.workload.shapes) {
    const std::int64_t each = s.gpus > 0 ? s.gpus * 700 : s.gpu_milli > 0 ? 300 : 100;
    s.needs[model::kPower] = dice.chance(80) ? each : dice.one_of({0, 50, 900});
  }
  const auto budget = [&](double& watts, std::int64_t most) {
    if (dice.chance(70)) watts = static_cast<double>(dice.below(most + 1));
  };
  for (model::Rack& rack : instance.cluster.racks) budget(rack.power_w, 3000);
  for (model::Pod& pod : instance.cluster.pods) budget(pod.power_w, 4500);
  return instance;
}

namespace {

/// Rules that a placement of the job may keep.
model::PlacementRules random_rules(Dice& dice, std::int64_t tasks, model::Level domain) {
  model::PlacementRules rules;
  const auto narrow = static_cast<std::size_t>(domain);
  for (std::size_t l = 0; l < rules.max_tasks.size(); ++l) {
    const auto most = static_cast<std::int32_t>(1 + dice.below(3));
    if (dice.chance(40) && (most >= tasks || l < narrow)) rules.max_tasks[l] = most;
    const auto least = static_cast<std::int32_t>(1 + dice.below(3));
    if (dice.chance(30) && least <= tasks && (least == 1 || l < narrow)) {
      rules.min_domains[l] = least;
    }
  }
  rules.exclusive = dice.chance(20);
  const bool x = dice.chance(50);
  if (dice.chance(50)) rules.labels = {x ? "x" : "y"};
  if (dice.chance(30)) rules.not_with = {x ? "y" : "x"};
  return rules;
}

}  // namespace

model::Instance with_rules(Dice& dice, model::Instance instance) {
  model::Workload& workload = instance.workload;
  for (model::Job& job : workload.jobs) {
    if (!dice.chance(70)) continue;
    const model::PlacementRules rules = random_rules(dice, workload.tasks(job), job.domain);
    const auto known = std::ranges::find(workload.rules, rules);
    job.rules = static_cast<std::uint32_t>(known - workload.rules.begin());
    if (known == workload.rules.end()) workload.rules.push_back(rules);
  }
  model::link_rules(workload.rules);
  return instance;
}

model::Instance with_licenses(Dice& dice, model::Instance instance) {
  model::Workload& workload = instance.workload;
  for (const char* name : {"x", "y"}) {
    instance.cluster.licenses.push_back({.name = name, .count = dice.below(5)});
  }
  for (model::Job& job : workload.jobs) {
    model::PlacementRules rules = workload.rules[job.rules];
    for (std::uint32_t license = 0; license < 2; ++license) {
      if (dice.chance(60)) rules.licenses.push_back({license, 1 + dice.below(3)});
    }
    const auto known = std::ranges::find(workload.rules, rules);
    job.rules = static_cast<std::uint32_t>(known - workload.rules.begin());
    if (known == workload.rules.end()) workload.rules.push_back(rules);
  }
  for (model::Running& running : workload.running) {
    running.rules = workload.jobs[running.job.index()].rules;
  }
  model::link_rules(workload.rules);
  return instance;
}

model::Instance with_spare(Dice& dice, model::Instance instance) {
  model::Cluster& cluster = instance.cluster;
  for (std::size_t p = 0; p < cluster.pods.size(); ++p) {
    for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
      std::int64_t gpus = 0;
      for (std::size_t m = 0; m < cluster.machines(); ++m) {
        const model::MachineClass& c = cluster.class_of(MachineId(m));
        if (cluster.pod_of(MachineId(m)) == PodId(p) && c.gpu_type == GpuTypeId(t)) gpus += c.gpus;
      }
      const std::int64_t spare = gpus == 0 || dice.chance(25) ? 0 : dice.below(gpus + 1);
      if (spare == 0) continue;
      const double penalty = static_cast<double>(dice.one_of({0, 2, 3, 4, 6, 10})) / 4.0;
      cluster.spare.push_back({PodId(p), GpuTypeId(t), spare, penalty});
    }
  }
  return instance;
}

model::Certificate random_prices(Dice& dice, const model::Instance& instance,
                                 model::Objective objective) {
  model::Certificate c;
  c.scale_log2 = static_cast<std::int32_t>(dice.one_of({10, 16, 20}));
  c.level = dice.chance(50) ? model::Level::rack : model::Level::pod;
  const bool milli = objective == model::Objective::allocate;
  const std::int64_t gpu = (milli ? 1000 : 6) * (std::int64_t{1} << c.scale_log2);  // of one GPU
  const std::int64_t kind = dice.below(5);
  const auto some = [&](std::int64_t most, std::int64_t percent) {
    return dice.chance(percent) ? dice.below(most + 1) : 0;
  };
  const auto& cluster = instance.cluster;
  const auto add_optional = [&](model::Resources& price, std::size_t k) {
    for (std::size_t r = model::kRequiredResources; r < model::kResources; ++r) {
      if (cluster.classes[k].capacity[r] != model::kNoLimit) price[r] = some(gpu / 1000, 40);
    }
  };
  const std::size_t places =
      c.level == model::Level::rack ? cluster.racks.size() : cluster.pods.size();
  for (std::size_t p = 0; kind != 0 && kind != 1 && p < places; ++p) {
    for (std::size_t k = 0; k < cluster.classes.size(); ++k) {
      const bool rack = c.level == model::Level::rack;
      c.pools.push_back({rack ? cluster.racks[p].pod : PodId(p),
                         rack ? RackId(p) : RackId{},
                         ClassId(k),
                         some(gpu / 500, 80),
                         {some(gpu / 2000, 15), some(gpu / 200, 15)}});
      add_optional(c.pools.back().unit_price, k);
    }
  }
  for (std::size_t s = 0; kind != 0 && kind != 2 && s < instance.workload.shapes.size(); ++s) {
    for (std::int32_t t = -1; t < 2; ++t) {
      c.shapes.push_back({ShapeId(s), GpuTypeId(t), some(2 * gpu, 60)});
    }
  }
  for (std::size_t k = 0; kind != 0 && k < cluster.classes.size(); ++k) {
    c.multipliers.push_back({ClassId(k), {some(gpu / 2000, 20), some(gpu / 200, 15)}});
    add_optional(c.multipliers.back().unit_price, k);
  }
  return c;
}

namespace {

/// Some price that a task of the shape pays on the type; more than 0.
std::int64_t task_price(const model::Instance& instance, const model::Certificate& prices,
                        ShapeId shape, GpuTypeId type) {
  const std::int64_t gpus = instance.workload.shape(shape).gpus;
  std::int64_t price = 1;
  for (const auto& p : prices.pools) {
    if (instance.cluster.classes[p.machine_class.index()].gpu_type != type) continue;
    price = std::max(price, p.gpu_milli * model::kGpuMilli * gpus);
  }
  for (const auto& s : prices.shapes) {
    if (s.shape == shape && s.gpu_type == type) price += s.price;
  }
  return price;
}

}  // namespace

void add_gang_prices(Dice& dice, const model::Instance& instance, model::Certificate& prices) {
  std::set<std::tuple<ShapeId, std::int64_t, GpuTypeId>> seen;
  for (const model::Job& job : instance.workload.jobs) {
    const auto groups = instance.workload.groups_of(job);
    if (groups.size() != 1 || groups.front().count < 2 || dice.chance(20)) continue;
    const ShapeId shape = groups.front().shape;
    const std::int64_t gpus = instance.workload.shape(shape).gpus;
    for (std::size_t t = 0; gpus > 0 && t < instance.cluster.gpu_types.size(); ++t) {
      const GpuTypeId type(t);
      const bool whole = std::ranges::all_of(instance.cluster.classes, [&](const auto& c) {
        return c.gpu_type != type || c.gpus <= gpus;
      });
      const std::int64_t tasks = groups.front().count;
      if (!whole || !seen.emplace(shape, tasks, type).second) continue;
      const std::int64_t percent = dice.one_of({0, 50, 90, 100, 110, 120, 150, 200});
      const std::int64_t price = task_price(instance, prices, shape, type);
      prices.gangs.push_back({shape, tasks, type, tasks * price * percent / 100});
    }
  }
}

model::Certificate nudged(Dice& dice, model::Certificate prices) {
  std::vector<std::int64_t*> all;
  const auto add = [&](model::Resources& price) {
    for (std::size_t r = 0; r < model::kResources; ++r) {
      if (!model::kResourceTable[r].optional() || price[r] > 0) all.push_back(&price[r]);
    }
  };
  for (auto& p : prices.pools) {
    all.push_back(&p.gpu_milli);
    add(p.unit_price);
  }
  for (auto& s : prices.shapes) all.push_back(&s.price);
  for (auto& g : prices.gangs) all.push_back(&g.price);
  for (auto& m : prices.multipliers) {
    add(m.unit_price);
  }
  if (all.empty()) return prices;
  const auto pick = [&]() -> std::int64_t& {
    return *all[static_cast<std::size_t>(dice.below(std::ssize(all)))];
  };
  const auto scaled = [&](std::int64_t price) {
    return price * dice.one_of({0, 25, 50, 80, 95, 99, 101, 105, 130, 200}) / 100;
  };
  const std::int64_t kind = dice.below(10);
  if (kind == 0) {
    const std::int64_t percent = dice.one_of({50, 80, 90, 110, 150});
    for (std::int64_t* price : all) *price = *price * percent / 100;
  } else if (kind < 7) {
    std::int64_t& chosen = pick();
    chosen = scaled(chosen);
  } else if (kind < 9) {
    std::int64_t& chosen = pick();
    chosen = scaled(pick());
  } else {
    std::swap(pick(), pick());
  }
  return prices;
}

}  // namespace berth::test
