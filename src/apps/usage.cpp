// SPDX-License-Identifier: Apache-2.0
#include "usage.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "berth/base/similar.hpp"

namespace berth::apps {
namespace {

constexpr const char* kProgram = R"(
Examples
  berth generate hetero --gpus 16384 --out-cluster c.yaml --out-jobs j.jsonl.gz
  mpiexec -n 4 berth plan c.yaml j.jsonl.gz --out plan.json
  berth check c.yaml j.jsonl.gz --plan plan.json

Exit codes
  0 done                      3 a limit or signal ended it, plan written
  1 check: plan is invalid    4 internal error, or a full disk
  2 bad usage or input        5 plan written, a required job is missing

Each command has its own help: berth plan --help. File formats: docs/formats.md
For man(1) and for bash: berth help man, berth help bash. Any command takes its options
from a file too: berth plan c.yaml j.jsonl --options-file FILE, lines such as gap = 0.5%)";

constexpr const char* kPlan = R"(
Examples
  berth plan c.yaml j.jsonl --out plan.json
  mpiexec -n 4 berth plan c.yaml j.jsonl.gz --out plan.json --progress
  mpiexec -n 4 berth plan c.yaml j.jsonl --objective allocate \
      --gap 0.001 --time-limit 30 --log-format json --out plan.json.gz
  mpiexec -n 4 berth plan c.yaml j.jsonl --checkpoint c.berth --out plan.json
  mpiexec -n 2 berth plan c.yaml j.jsonl --resume c.berth --out plan.json
  berth plan c.yaml j.jsonl --online-order --batch 256 --out plan.json
  berth plan c.yaml j.jsonl --horizon 7d --out plan.json

The same files, objective, shards, gap and seed give the same plan on any number of ranks and
threads. SIGTERM, SIGUSR1 (Slurm's warning) or Ctrl-C: the best plan so far is written, exit code
3; a second Ctrl-C ends at once.
An earlier plan under --out stays whole until the new one replaces it. A plan that was killed and
then resumed is the plan of a run that was not.
If MPI has not started after 25 s and 1 s for every 4 ranks, 300 s at most (BERTH_START_SECONDS in
the environment), the run ends with 4.

Exit codes
  0 done                      4 internal error, or a full disk
  2 bad usage or input        5 plan written, a required job is missing
  3 a limit or signal ended it, plan written)";

constexpr const char* kCheck = R"(
Example
  berth check c.yaml j.jsonl.gz --plan plan.json

Everything is recomputed from the three files; each fault is printed by name.

Exit codes
  0 the plan is valid         2 bad usage, or a file that cannot be read
  1 it is not)";

constexpr const char* kShow = R"(
Examples
  berth show plan.json c.yaml j.jsonl
  berth show plan.json c.yaml j.jsonl --by rack,queue,job

Columns: closed: GPUs of machines that take no job; pinned: held by what no plan moves; planned: by
jobs of the plan; whole: devices that are free entirely; used: pinned and planned.

Exit codes
  0 done        2 bad usage, an unreadable file, or other files than the plan's)";

constexpr const char* kRunning = R"(
Examples
  berth running plan.json c.yaml j.jsonl --out-jobs next.jsonl
  berth running plan.json c.yaml j.jsonl --stop-cost 2 --move-cost 0.5 \
      --out-jobs next.jsonl

Jobs that the plan places run there; jobs that wait in it do not run. Jobs that ran before keep
their costs, pinned ones their places. Delete the lines of jobs that have ended, add those of new
jobs, and plan again.

Exit codes
  0 done        2 bad usage, an unreadable file, or other files than the plan's)";

constexpr const char* kDiff = R"(
Examples
  berth diff plan.json c.yaml j.jsonl
  berth diff monday.json tuesday.json c.yaml j.jsonl

One plan: against what runs now. Each job: its GPUs, what the change brings to the
objective, and where it was and will be.

Exit codes
  0 done        2 bad usage, an unreadable file, or other files than the plan's)";

constexpr const char* kReport = R"(
Examples
  berth report plan.json c.yaml j.jsonl --html plan.html
  berth report run c.yaml j.jsonl --html run.html    (of berth simulate)

The page is one file for any browser and loads nothing. On its map, arrow keys go from machine to
machine, + and - zoom, and so does the wheel with Ctrl.

Exit codes
  0 done        2 bad usage, an unreadable file, or other files than the plan's
                4 internal error, or a full disk)";

constexpr const char* kExplain = R"(
Examples
  berth explain plan.json c.yaml j.jsonl --job llm-4
  berth explain plan.json c.yaml j.jsonl

A line for each GPU type: what the job is worth there, what it costs at the prices that prove the
plan's bound, and how many of its tasks the free room of one domain holds. Each change named is
enough by itself: the others stay as they are, but for jobs named as moved or stopped.

Exit codes
  0 done        2 bad usage, an unreadable file, or other files than the plan's)";

constexpr const char* kImport = R"(
Examples
  berth import --list
  berth import philly --trace philly.csv.gz --machines 312 --preemptible \
      --out-cluster c.yaml --out-jobs j.jsonl.gz
  berth import openb --nodes openb_node_list_gpu_node.csv \
      --pods openb_pod_list_default.csv.gz \
      --out-cluster c.yaml --out-jobs j.jsonl.gz
  berth import rack-placement --jobs jobs.csv --racks racks.csv \
      --out-cluster c.yaml --out-jobs j.jsonl
  berth import slurm --out-cluster c.yaml --out-jobs j.jsonl \
      --out-state state.json
  berth import slurm --nodes nodes.json --jobs jobs.json \
      --partitions partitions.txt --topology topology.conf \
      --out-cluster c.yaml --out-jobs j.jsonl

Exit codes
  0 done        2 bad usage or input        4 internal error, or a full disk)";

constexpr const char* kApply = R"(
Examples
  berth import slurm --out-cluster c.yaml --out-jobs j.jsonl \
      --out-state state.json
  mpiexec -n 4 berth plan c.yaml j.jsonl --out plan.json
  berth apply slurm --plan plan.json --import-state state.json --dry-run
  berth apply slurm --plan plan.json --import-state state.json \
      --set nodes,priority --commit
  berth apply slurm --plan plan.json --import-state state.json \
      --release --commit
  berth apply slurm --clear --commit

Slurm is told which nodes a job must have (ReqNodeList), when it may start, and its priority; which
GPUs of a node a job gets, whole or in shares, Slurm itself decides. The cluster is looked at again
first: nothing is done when the plan no longer holds (a node gone or drained, a job no longer
pending or asking for something else, too little room left), and the jobs it fails for are named.
A job that is held stays held unless --release is given; --set priority passes it over, for a
priority would release it. A word in the job's AdminComment keeps what was set: the next import does
not take it for the user's wish, and the next apply replaces or removes it, as --clear does.

Exit codes
  0 done                      2 bad usage or input, or the plan no longer holds
  4 internal error, a full disk, or Slurm refused an update)";

constexpr const char* kGenerate = R"(
Examples
  berth generate hetero --gpus 2048 --out-cluster c.yaml --out-jobs j.jsonl
  berth generate hetero --gpus 100000 --jobs 50000 --seed 7 \
      --out-cluster c.yaml --out-jobs j.jsonl.gz
  berth generate openb-like --gpus 6212 --out-cluster c.yaml --out-jobs j.jsonl

The same options give the same files on every machine.

Exit codes
  0 done        2 bad usage or input        4 internal error, or a full disk)";

constexpr const char* kSimulate = R"(
Examples
  berth simulate c.yaml j.jsonl --policy easy --out run
  berth simulate c.yaml j.jsonl --policy srsf --restart-cost 300 \
      --estimates noisy --noise 1 --seed 7 --out run
  berth check c.yaml j.jsonl --run run

The same files and options give the same run, to the microsecond. Jobs need a duration or a limit.

Exit codes
  0 done        2 bad usage or input        4 internal error, or a full disk)";

constexpr const char* kBench = R"(
Examples
  mpiexec -n 16 berth bench scale --gpus 65536 --out-json s.json --out-csv s.csv
  mpiexec -n 4 berth bench scale --gpus 4096 --weak --repeat 3
  mpiexec -n 8 berth bench scale --ranks 1,2,3,8 c.yaml j.jsonl.gz --threads 2
  srun -n 64 berth bench scale --preset philly-like --gpus 262144 \
      --ranks 1,16,64

One launch measures every number of ranks up to its own: the first ranks plan, the others sleep.
Keep ranks x threads at or below the cores, or the times mean little. What the model says of more
ranks is printed apart; its network is assumed (--latency-us and so on), not measured.

Exit codes
  0 done        2 bad usage or input        4 internal error, or a full disk)";

/// The text without the examples that do not begin with `command`, where some do. An example ends
/// with the first line that no backslash continues.
std::string examples_of(std::string_view text, const std::string& command) {
  if (text.find("  " + command + " ") == std::string_view::npos) return std::string(text);
  std::string result;
  bool continued = false, kept = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (!continued) {
      const bool example = line.starts_with("  ") && line.find("berth ") != std::string_view::npos;
      kept = !example || line.find(command + " ") != std::string_view::npos;
    }
    continued = line.ends_with('\\');
    if (kept) result.append(line).append(end < text.size() ? "\n" : "");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

const CLI::App& deepest(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? "berth" : full_name(*parent) + " " + app.get_name();
}

/// The option without its dashes, which all options share and which edit distance must not count.
std::string bare(std::string_view word) {
  return std::string(word.substr(std::min(word.find_first_not_of('-'), word.size())));
}

std::vector<std::string> known_words(const CLI::App& app, std::string_view word) {
  std::vector<std::string> known;
  if (word.starts_with('-')) {
    for (const CLI::Option* option : app.get_options()) {
      known.push_back(bare(option->get_name()));
    }
  } else {
    const auto every = [](const CLI::App*) { return true; };
    for (const CLI::App* command : app.get_subcommands(every)) known.push_back(command->get_name());
  }
  return known;
}

/// The first word that is not understood; a value after an unknown option is not the mistake.
std::string unknown_word(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  for (const std::string& word : words) {
    if (word.starts_with('-')) return word.substr(0, word.find('='));
  }
  return words.empty() ? std::string() : words.front();
}

}  // namespace

void add_examples(CLI::App& app) {
  app.footer(kProgram);
  constexpr std::array<std::array<const char*, 2>, 12> texts{{{"plan", kPlan},
                                                              {"check", kCheck},
                                                              {"show", kShow},
                                                              {"diff", kDiff},
                                                              {"report", kReport},
                                                              {"running", kRunning},
                                                              {"explain", kExplain},
                                                              {"import", kImport},
                                                              {"generate", kGenerate},
                                                              {"bench", kBench},
                                                              {"apply", kApply},
                                                              {"simulate", kSimulate}}};
  const auto every = [](CLI::App*) { return true; };
  for (const auto& [name, text] : texts) {
    CLI::App* const command = app.get_subcommand(name);
    command->footer(text);
    for (CLI::App* const below : command->get_subcommands(every)) {
      below->footer(examples_of(text, full_name(*below)));
    }
  }
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = deepest(app);
  std::string text = error.what();
  if (const std::string word = unknown_word(app); !word.empty()) {
    const auto is_command = [](const CLI::App* below) { return !below->get_name().empty(); };
    const bool names_command = !command.get_subcommands(is_command).empty();  // no option group
    text = word + (word.starts_with('-') ? ": unknown option"
                   : names_command       ? ": unknown command"
                                         : ": one name too many");
    std::string hint = did_you_mean(bare(word), known_words(command, word));
    if (const std::size_t quote = hint.find('"'); word.starts_with("--") && !hint.empty()) {
      hint.insert(quote + 1, "--");
    }
    if (!hint.empty()) text += "; " + hint;
  }
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text + " (" + full_name(command) + " --help tells more)";
}

}  // namespace berth::apps
