// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <CLI/App.hpp>

#include "berth/base/error.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/report/progress.hpp"

namespace berth::apps {

/// Body of a subcommand, run on all ranks after the command line is parsed.
using Action = std::function<ExitCode(const comm::Communicator&)>;

/// Adds the subcommand to `app`, which sets `action` when the user chooses it; `log` is the format
/// of its messages, including errors.
void add_plan(CLI::App& app, Action& action, report::LogFormat& log);
void add_check(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_apply(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_diff(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_running(CLI::App& app, Action& action);

/// Adds the presets of plans in time to `generate`.
void add_generate_horizon(CLI::App& generate, Action& action);

/// Adds the formats of job traces to `import`.
void add_import_traces(CLI::App& import, Action& action);

/// Adds the Slurm format to `import`.
void add_import_slurm(CLI::App& import, Action& action);

}  // namespace berth::apps
