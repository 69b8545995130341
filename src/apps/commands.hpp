// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <CLI/App.hpp>

#include "berth/base/error.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/report/progress.hpp"

namespace berth::apps {

/// What a subcommand does once the command line is understood. Runs on all ranks.
using Action = std::function<ExitCode(const comm::Communicator&)>;

/// Each adds its subcommand to `app` and sets `action` when it is chosen; `log` is how it speaks,
/// its errors included.
void add_plan(CLI::App& app, Action& action, report::LogFormat& log);
void add_check(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_apply(CLI::App& app, Action& action);

/// One of the formats of `import`.
void add_import_slurm(CLI::App& import, Action& action);

}  // namespace berth::apps
