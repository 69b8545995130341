// SPDX-License-Identifier: Apache-2.0
#include "slurm_live.hpp"

#include "options.hpp"

#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"

extern char** environ;

namespace berth::apps {
namespace {

using Command = std::vector<std::string>;
using Source = io::SlurmSources::Source;

std::string words(const Command& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// A pipe; the destructor closes its ends.
struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw SystemError("no pipe left");
  }
  ~Pipe() {
    close_writer();
    ::close(ends[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_writer() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  std::array<int, 2> ends{};
};

/// Reads both streams to their ends, in the order in which data arrives.
void drain(const Pipe& out, const Pipe& err, Ran& ran) {
  std::array<pollfd, 2> open{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
  std::array<char, 65536> buffer{};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (::poll(open.data(), open.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw SystemError("cannot wait for a program's output");
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i].fd < 0 || open[i].revents == 0) continue;
      const ssize_t read = ::read(open[i].fd, buffer.data(), buffer.size());
      if (read < 0 && errno == EINTR) continue;
      if (read <= 0) {
        open[i].fd = -1;
      } else {
        (i == 0 ? ran.out : ran.err).append(buffer.data(), static_cast<std::size_t>(read));
      }
    }
  }
}

Source ask(const Command& command) {
  Ran ran = run_program(command);
  if (ran.exit_code == 0) return {.name = words(command), .text = std::move(ran.out)};
  const std::string said = ran.err.substr(0, ran.err.find('\n'));
  throw InputError({.file = words(command), .line = 0, .field = {}},
                   said.empty() ? "exit code " + std::to_string(ran.exit_code) : said,
                   "is this a machine of the Slurm cluster? --nodes and --jobs take saved files");
}

/// "slurm-wlm 22.05.8" -> 22.05 as 2205.
int slurm_version() {
  const std::string text = ask({"scontrol", "--version"}).text;
  std::size_t digit = text.find_first_of("0123456789");
  int parts[2] = {0, 0};
  for (int part = 0; part < 2 && digit < text.size(); ++part, ++digit) {
    while (digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit])) != 0) {
      parts[part] = parts[part] * 10 + (text[digit++] - '0');
    }
  }
  return parts[0] * 100 + parts[1];
}

io::SlurmSources ask_slurm() {
  constexpr int kScontrolSpeaksJson = 2302;  // Slurm 23.02 brought `scontrol show --json`
  ::setenv("SLURM_BITSTR_LEN", "0", 1);      // else squeue truncates long arrays
  io::SlurmSources sources;
  sources.nodes = slurm_version() >= kScontrolSpeaksJson
                      ? ask({"scontrol", "show", "nodes", "--json"})
                      : ask({"sinfo", "--all", "--json"});
  sources.jobs = ask({"squeue", "--all", "--json"});
  sources.partitions = ask({"scontrol", "--all", "-o", "show", "partition"});
  sources.reservations = ask({"scontrol", "-o", "show", "reservation"});
  sources.config = ask({"scontrol", "show", "config"});
  sources.licenses = ask({"scontrol", "-o", "show", "licenses"});  // may say that there are none
  sources.job_details = ask({"scontrol", "-o", "--all", "show", "jobs"});
  const Ran topology = run_program({"scontrol", "show", "topology"});
  const bool told = topology.out.find("SwitchName=") != std::string::npos ||
                    topology.out.find("BlockName=") != std::string::npos;
  if (topology.exit_code == 0 && told) {  // else no topology plugin is configured
    sources.topology = {.name = "scontrol show topology", .text = topology.out};
  }
  return sources;
}

Source from_file(const std::string& path) {
  if (path.empty()) return {};
  return {.name = path, .text = io::read_file(path)};
}

}  // namespace

Ran run_program(const std::vector<std::string>& command) {
  Pipe out;
  Pipe err;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {  // the exit code that a shell would return
    return {.exit_code = 127,
            .out = {},
            .err = "cannot start " + command.front() + ": " + std::strerror(failed)};
  }
  out.close_writer();
  err.close_writer();
  Ran ran;
  drain(out, err, ran);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

void add_slurm_files(CLI::App& command, SlurmFiles& files) {
  CLI::Option* const nodes =
      command
          .add_option("--nodes", files.nodes,
                      "Saved `scontrol show nodes --json` (22.05: `sinfo --json`)")
          ->check(file_name());
  CLI::Option* const jobs =
      command.add_option("--jobs", files.jobs, "Saved `squeue --json`")->check(file_name());
  nodes->needs(jobs);
  jobs->needs(nodes);
  command.add_option("--partitions", files.partitions, "Saved `scontrol -o show partition`")
      ->check(file_name())
      ->needs(nodes);
  command.add_option("--reservations", files.reservations, "Saved `scontrol -o show reservation`")
      ->check(file_name())
      ->needs(nodes);
  command.add_option("--licenses", files.licenses, "Saved `scontrol -o show licenses`")
      ->check(file_name())
      ->needs(nodes);
  command
      .add_option("--job-details", files.details,
                  "Saved `scontrol -o show jobs`: --switches, which the JSON of 22.05 lacks")
      ->check(file_name())
      ->needs(nodes);
  command.add_option("--config", files.config, "Saved `scontrol show config`")
      ->check(file_name())
      ->needs(nodes);
}

io::SlurmSources slurm_sources(const SlurmFiles& files) {
  io::SlurmSources sources;
  if (files.nodes.empty()) {
    sources = ask_slurm();
  } else {
    sources.nodes = from_file(files.nodes);
    sources.jobs = from_file(files.jobs);
    sources.partitions = from_file(files.partitions);
    sources.reservations = from_file(files.reservations);
    sources.config = from_file(files.config);
    sources.licenses = from_file(files.licenses);
    sources.job_details = from_file(files.details);
  }
  if (!files.topology.empty()) sources.topology = from_file(files.topology);
  return sources;
}

}  // namespace berth::apps
