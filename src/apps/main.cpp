// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "help_format.hpp"
#include "manual.hpp"
#include "options_file.hpp"
#include "signals.hpp"
#include "usage.hpp"
#include "version.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "berth/comm/environment.hpp"
#include "berth/comm/error.hpp"
#include "berth/report/progress.hpp"

namespace berth::apps {
namespace {

/// The command line without the program, last word first as CLI11 asks for. "help plan" means
/// "plan --help", "version" means "--version".
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (words.size() == 1 && words.front() == "version") words.front() = "--version";
  words = with_options_file(std::move(words));
  std::ranges::reverse(words);
  return words;
}

/// The result of parsing a command line.
struct Parsed {
  Action action;
  report::LogFormat log = report::LogFormat::text;
  bool stops_early = false;  ///< a signal asks for what was found so far
};

void say(report::LogFormat log, ExitCode code, const std::string& message) {
  const std::string line = report::error_line(log, code, message);
  std::fputs(line.c_str(), stderr);
}

/// Prints the manual page or the completion for "help man" and "help bash"; false: other words.
bool print_manual(const comm::Communicator& comm, const CLI::App& app, int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "help") return false;
  const std::string_view kind = argv[2];
  if (kind != "man" && kind != "bash") return false;
  const std::string text = kind == "man" ? manual(app) : bash_completion(app);
  if (comm.rank() == 0) std::fputs(text.c_str(), stdout);
  return true;
}

/// The parsed command line, or no value when help was requested (rank 0 prints it). A usage error,
/// even of one rank alone, is thrown on all ranks.
std::optional<Parsed> parse(const comm::Communicator& comm, int argc, char** argv) {
  CLI::App app{"Berth plans very large GPU clusters: which jobs run, where, with a proved bound."};
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", std::string(version()));
  Parsed parsed;
  add_plan(app, parsed.action, parsed.log);
  add_check(app, parsed.action);
  add_show(app, parsed.action);
  add_diff(app, parsed.action);
  add_report(app, parsed.action);
  add_running(app, parsed.action);
  add_explain(app, parsed.action);
  add_import(app, parsed.action);
  add_generate(app, parsed.action);
  add_bench(app, parsed.action);
  add_apply(app, parsed.action);
  add_simulate(app, parsed.action);
  add_examples(app);
  if (print_manual(comm, app, argc, argv)) return std::nullopt;
  bool help = false;
  comm.agreed([&] {
    try {
      app.parse(words_of(argc, argv));
    } catch (const CLI::Success& asked) {
      help = true;
      std::ostringstream text;
      app.exit(asked, text, text);
      if (comm.rank() == 0) std::fputs(text.str().c_str(), stdout);
    } catch (const CLI::ParseError& error) {
      throw InputError({}, usage_error(app, error));
    }
  });
  if (comm.max(help ? 1 : 0) == 1) return std::nullopt;
  parsed.stops_early = app.got_subcommand("plan") || app.got_subcommand("simulate");
  return parsed;
}

/// Delays a rank in proportion to its number: when all ranks fail alike without an agreement (a
/// bug, memory), the first to report ends the others before they print the same message.
void wait_for_turn(int rank) {
  constexpr int kLongest = 10;  // of 100 ms: ranks from 10 on wait one second
  std::this_thread::sleep_for(std::chrono::milliseconds(100) * std::min(rank, kLongest));
}

int run(int argc, char** argv) {
  const comm::Environment environment;
  mpi_has_started();
  const auto comm = comm::Communicator::world();
  report::LogFormat log = report::LogFormat::text;
  try {
    const std::optional<Parsed> parsed = parse(comm, argc, argv);
    if (!parsed) return static_cast<int>(ExitCode::done);
    log = parsed->log;
    if (!parsed->stops_early) release_signals();
    return static_cast<int>(parsed->action(comm));
  } catch (const comm::AgreedError& error) {  // thrown on every rank: one of them prints
    if (comm.rank() == error.rank()) say(log, error.exit_code(), error.what());
    comm.barrier();
    return static_cast<int>(error.exit_code());
  } catch (...) {  // on this rank alone: the others wait in a collective, so all must end
    const comm::Failure failure = comm::failure_of(std::current_exception());
    wait_for_turn(comm.rank());
    say(log, failure.exit_code, failure.message);
    if (comm.size() == 1) return static_cast<int>(failure.exit_code);
    comm.abort(failure.exit_code);
  }
}

}  // namespace
}  // namespace berth::apps

int main(int argc, char** argv) {
  berth::apps::hold_signals();
  try {
    return berth::apps::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "berth: error: %s\n", error.what());
  }
  return static_cast<int>(berth::ExitCode::internal_error);
}
