// SPDX-License-Identifier: Apache-2.0
// usage: berth_kernels [--benchmark_filter=REGEX] [--benchmark_repetitions=5] ...
// Threads: OMP_NUM_THREADS, else all cores.
#include "kernels.hpp"

#include <cstdio>

#include "berth/parallel/threads.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::bench {

void add(const char* name, Kernel kernel, const std::string& instance, MakeSubject subject) {
  benchmark::RegisterBenchmark((name + ("/" + instance)).c_str(),
                               [=](benchmark::State& state) { kernel(state, subject()); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

namespace {

void register_all() {
  const auto everything = [](const std::string& instance, MakeSubject subject) {
    register_market(instance, subject);
    register_certify(instance, subject);
    register_text(instance, subject);
  };
  register_memory();
  register_pack();
  register_price_round();
  everything("hetero1k", []() -> const Subject& { return hetero(1024); });
  everything("hetero4k", []() -> const Subject& { return hetero(4096); });
  everything("hetero16k", []() -> const Subject& { return hetero(16384); });
  if (has_rack_placement("r4000x256")) {
    everything("r4000x256", []() -> const Subject& { return rack_placement("r4000x256"); });
    everything("r16384x1024", []() -> const Subject& { return rack_placement("r16384x1024"); });
  } else {
    std::puts("skipped: r4000x256, r16384x1024 (no BERTH_BENCH)");
  }
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const berth::solver::PetscSession petsc;
  const berth::parallel::ThreadLimit threads(berth::parallel::default_threads(1));
  benchmark::AddCustomContext("threads", std::to_string(berth::parallel::thread_limit()));
  berth::bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
