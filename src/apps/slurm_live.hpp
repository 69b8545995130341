// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "berth/io/slurm.hpp"

namespace berth::apps {

/// Saved output of Slurm's commands; without --nodes and --jobs Berth runs the commands.
struct SlurmFiles {
  std::string nodes, jobs, partitions, reservations, config, licenses, details, topology;
};
void add_slurm_files(CLI::App& command, SlurmFiles& files);

/// Contents of the files, or of a live Slurm's commands. A topology file is used in both cases.
io::SlurmSources slurm_sources(const SlurmFiles& files);

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs a program found on PATH, without a shell; exit code 127 when it cannot be started.
Ran run_program(const std::vector<std::string>& command);

}  // namespace berth::apps
