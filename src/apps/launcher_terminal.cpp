// SPDX-License-Identifier: Apache-2.0
#include "launcher_terminal.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace berth::apps {
namespace {

/// Command name and parent of a process; parent 0: none.
struct Ancestor {
  std::string command;
  int parent = 0;
};

Ancestor ancestor(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const std::size_t open = text.find('('), close = text.rfind(')');  // a name may have brackets
  if (open == std::string::npos || close == std::string::npos || close + 4 >= text.size()) return {};
  Ancestor result{.command = text.substr(open + 1, close - open - 1)};
  result.parent = std::atoi(text.c_str() + close + 4);  // behind the state of one letter
  return result;
}

bool is_launcher(std::string_view command) {
  constexpr std::array<std::string_view, 3> kNames{"mpiexec", "mpirun", "orterun"};
  for (const std::string_view name : kNames) {
    if (command.starts_with(name)) return true;  // mpiexec.hydra, mpiexec.mpich
  }
  return false;
}

}  // namespace

bool launcher_has_terminal() {
  constexpr int kMostSteps = 6;  // a shell or two may stand between
  int process = getppid();
  for (int step = 0; step < kMostSteps && process > 1; ++step) {
    const Ancestor found = ancestor(process);
    if (is_launcher(found.command)) {
      std::error_code none;
      const std::string stderr_of =
          std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", process), none).string();
      return stderr_of.starts_with("/dev/pts/") || stderr_of.starts_with("/dev/tty");
    }
    process = found.parent;
  }
  return false;
}

}  // namespace berth::apps
