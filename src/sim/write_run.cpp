// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/write_run.hpp"

#include "run_plots.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"
#include "berth/io/run_file.hpp"
#include "berth/model/digest.hpp"
#include "berth/sim/metrics.hpp"

namespace berth::sim {
namespace {

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw SystemError(folder + ": cannot be made: " + error.message());
}

std::string path_in(const std::string& folder, std::string_view file) {
  return (std::filesystem::path(folder) / file).string();
}

/// Columns: seconds from the begin of the axis, GPUs allocated, jobs running and waiting.
void write_series(const std::string& path, const Run& run) {
  io::write_atomically(path, [&](io::AtomicFile& file) {
    file.write("seconds,gpus_allocated,jobs_running,jobs_waiting\n");
    for (const SeriesPoint& point : run.series) {
      file.write(fmt::format("{},{:.6g},{:.6g},{:.6g}\n", point.from / kSecond, point.gpus,
                             point.running, point.waiting));
    }
  });
}

/// Removes the file of an earlier run when there are none.
void write_failures(const std::string& path, const model::Cluster& cluster,
                    const std::vector<io::MachineFailure>& failures) {
  std::error_code none;
  if (failures.empty()) {
    std::filesystem::remove(path, none);
    return;
  }
  io::write_atomically(path, [&](io::AtomicFile& file) {
    for (const io::MachineFailure& failure : failures)
      file.write(io::failure_line(cluster, failure));
  });
}

void write_plots(const std::string& folder, const model::Cluster& cluster, const Run& run,
                 const std::string& policy) {
  for (const NamedPlot& plot : plots_of(cluster, run, policy)) {
    const std::string text = svg_of(plot.plot);
    io::write_atomically(path_in(folder, plot.file),
                         [&](io::AtomicFile& file) { file.write(text); });
  }
}

/// Returns the digest of the text.
std::string write_records(const std::string& path, const model::Instance& instance,
                          const Run& run) {
  model::Sha256 digest;
  io::write_atomically(path, [&](io::AtomicFile& file) {
    for (const model::JobRecord& record : run.records) {
      const std::string line = io::run_record_line(instance, record);
      digest.text(line);
      file.write(line);
    }
  });
  return digest.hex();
}

}  // namespace

model::RunSummary write_run(const std::string& folder, const model::Instance& instance,
                            const Run& run, const std::string& policy,
                            const std::map<std::string, std::string>& options,
                            const std::vector<io::MachineFailure>& failures) {
  make_folder(folder);
  model::RunSummary summary{
      .instance_digest = model::instance_digest(instance),
      .run_digest = write_records(path_in(folder, io::kRunJobs), instance, run),
      .policy = policy,
      .options = options,
      .figures = figures(instance, run.records)};
  write_series(path_in(folder, "series.csv"), run);
  write_plots(folder, instance.cluster, run, policy);
  write_failures(path_in(folder, io::kRunFailures), instance.cluster, failures);
  io::write_atomically(path_in(folder, io::kRunSummary),
                       [&](io::AtomicFile& file) { file.write(io::run_summary_text(summary)); });
  return summary;
}

void write_rounds(const std::string& folder, const std::vector<PriceRound>& rounds) {
  make_folder(folder);
  const std::string path = path_in(folder, "rounds.csv");
  if (rounds.empty()) {
    std::error_code none;
    std::filesystem::remove(path, none);
    return;
  }
  io::write_atomically(path, [&](io::AtomicFile& file) {
    file.write("seconds,jobs,evaluations,cost,bound,gap\n");
    for (const PriceRound& round : rounds) {
      const double gap = round.cost > 0.0 ? 1.0 - round.bound / round.cost : 0.0;
      file.write(fmt::format("{},{},{},{:.9g},{:.9g},{:.6f}\n", round.time / kSecond, round.jobs,
                             round.evaluations, round.cost, round.bound, gap));
    }
  });
}

std::string summary_table(const model::RunSummary& summary) {
  std::string table = fmt::format("  {:<28}{}\n", "policy", summary.policy);
  for (const model::RunFigureRow& row : model::kRunFigureRows) {
    table += fmt::format("  {:<28}{:.6g}\n", row.text, summary.figures.*row.value);
  }
  return table + fmt::format("  {:<28}{}\n", "digest", summary.run_digest);
}

}  // namespace berth::sim
