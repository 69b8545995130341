// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <cstdio>
#include <exception>
#include <sstream>
#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "berth/comm/environment.hpp"
#include "berth/comm/error.hpp"

namespace berth::apps {
namespace {

constexpr const char* kFooter = R"(
Examples
  berth generate hetero --gpus 16384 --out-cluster c.yaml --out-jobs j.jsonl.gz
  mpiexec -n 4 berth plan --cluster c.yaml --jobs j.jsonl.gz --out plan.json
  berth check --cluster c.yaml --jobs j.jsonl.gz --plan plan.json

Exit codes
  0 done                      3 a limit or signal ended it, plan written
  1 check: plan is invalid    4 internal error
  2 bad usage or input        5 plan written, a required job is missing)";

/// One message for all ranks, then the same exit code everywhere.
void say(const comm::Communicator& comm, int rank, const std::string& message) {
  if (comm.rank() == rank) std::fprintf(stderr, "berth: error: %s\n", message.c_str());
}

/// Parses on every rank alike; help and usage errors are printed by rank 0.
std::optional<ExitCode> parse(CLI::App& app, int argc, char** argv,
                              const comm::Communicator& comm) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    if (comm.rank() == 0) {
      std::fputs(out.str().c_str(), stdout);
      std::fputs(err.str().c_str(), stderr);
    }
    return code == 0 ? ExitCode::done : ExitCode::bad_input;
  }
}

int run(int argc, char** argv) {
  const comm::Environment environment;
  const auto comm = comm::Communicator::world();
  CLI::App app{"Berth plans very large GPU clusters: which jobs run, where, with a proved bound."};
  app.footer(kFooter);
  app.require_subcommand(1);
  Action action;
  add_plan(app, action);
  add_check(app, action);
  add_import(app, action);
  add_generate(app, action);
  if (const auto code = parse(app, argc, argv, comm)) return static_cast<int>(*code);
  try {
    return static_cast<int>(action(comm));
  } catch (const comm::AgreedError& error) {  // on every rank: one of them speaks
    say(comm, error.rank(), error.what());
    comm.barrier();
    return static_cast<int>(error.exit_code());
  } catch (...) {  // on this rank alone: the others wait somewhere, so all must end
    const comm::Failure failure = comm::failure_of(std::current_exception());
    say(comm, comm.rank(), failure.message);
    if (comm.size() == 1) return static_cast<int>(failure.exit_code);
    comm.abort(failure.exit_code);
  }
}

}  // namespace
}  // namespace berth::apps

int main(int argc, char** argv) {
  try {
    return berth::apps::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "berth: error: %s\n", error.what());
  }
  return static_cast<int>(berth::ExitCode::internal_error);
}
