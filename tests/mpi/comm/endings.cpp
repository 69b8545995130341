// SPDX-License-Identifier: Apache-2.0
// A program that ends the way its argument says; rank 1 is the one with the trouble.
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/comm/environment.hpp"

using namespace berth;

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  const comm::Environment environment;
  const auto world = comm::Communicator::world();
  try {
    if (how == "agreed") {
      world.agreed([&] {
        if (world.rank() == 1) throw InputError({"jobs.jsonl", 7, "id"}, "missing");
      });
    }
    if (how == "aborted" && world.rank() == 1) throw std::runtime_error("disk on fire");
    if (how == "mismatched") {  // a bug of the caller that only MPI can see
      std::vector<char> bytes(world.rank() == 0 ? 8 : 4);
      world.broadcast<char>(bytes);
    }
    world.barrier();
  } catch (const comm::MpiError& error) {
    std::fprintf(stderr, "berth: rank %d: %s\n", world.rank(), error.what());
    world.abort(ExitCode{5});  // no other ending has this code
  } catch (const comm::AgreedError& error) {
    if (world.rank() == 0) std::fprintf(stderr, "berth: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "berth: rank %d: %s\n", world.rank(), error.what());
    world.abort(ExitCode::internal_error);
  }
  return 0;
}
