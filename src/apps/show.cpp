// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "options.hpp"
#include "plan_cache.hpp"
#include "read_placement.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/io/jobs_file.hpp"
#include "berth/report/plan_tables.hpp"

namespace berth::apps {
namespace {

struct ShowFlags {
  pipeline::Input input;
  CacheFlags cache;
  std::string plan;
  std::vector<std::string> by = {"gpu-type", "pod", "queue", "reason"};
};

std::vector<std::string> groupings() {
  std::vector<std::string> words;
  for (const auto& [word, grouping] : report::kGroupings) words.emplace_back(word);
  return words;
}

report::Grouping grouping_of(const std::string& word) {
  const auto* const row = std::ranges::find(report::kGroupings, word,
                                            &std::pair<std::string_view, report::Grouping>::first);
  return row->second;
}

ExitCode run_show(const comm::Communicator& comm, const ShowFlags& flags) {
  return static_cast<ExitCode>(comm.agreed([&] {
    if (comm.rank() != 0) return static_cast<int>(ExitCode::done);
    const PlannedInstance read =
        read_planned(flags.input, flags.plan, flags.cache, Heap::of_huge_pages);
    const model::Instance& instance = read.instance;
    const ReadPlan& plan = read.plan;
    const model::InstanceView view(instance);
    const report::PlanContent content{view, plan.placement, plan.file.waiting};
    std::string text = report::header(content);
    for (const std::string& word : flags.by) {
      text += "\n" + report::table(content, grouping_of(word));
    }
    std::fputs(text.c_str(), stdout);
    return static_cast<int>(ExitCode::done);
  }));
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = app.add_subcommand(
      "show", "Tables of a plan: GPUs by type, pod, rack, machine, queue, user, job");
  command->add_option("plan", flags->plan, "The plan (with a horizon: what starts now)")
      ->check(file_name())
      ->transform(dash_for("/dev/stdin"))
      ->required();
  add_input(*command, flags->input);
  add_cache(*command, flags->cache);
  const std::string words = fmt::format("{}", fmt::join(groupings(), ", "));
  command->add_option("--by", flags->by, "Which tables, in this order, comma-separated: " + words)
      ->delimiter(',')
      ->check(CLI::Validator(CLI::IsMember(groupings())).description(""))
      ->default_str("gpu-type,pod,queue,reason");
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_show(comm, *flags); };
  });
}

}  // namespace berth::apps
