// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/write_plan.hpp"

#include "batched_gather.hpp"

#include <optional>
#include <span>
#include <vector>

#include "berth/io/file.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::pipeline {

void write_plan(const comm::Communicator& comm, const std::string& path,
                const model::Instance& instance, const model::Plan& plan,
                const coordinator::JobRecords& jobs) {
  std::optional<io::AtomicFile> file;  // on rank 0, as are these
  std::optional<io::PlanText> text;
  std::vector<JobId> order;
  comm.agreed_on_root([&] {
    file.emplace(path);
    text.emplace(instance, plan);
    order = all_jobs(instance.workload);
  });
  const auto write = [&](const auto& part) {
    comm.agreed_on_root([&] {
      text->add(std::span(part));
      file->write(text->take());
    });
  };
  for_each_batch(comm, order, [&](const std::vector<JobId>& batch) {
    const auto borrowed = jobs.borrow(batch);
    write(gather_batch(comm, batch, plan.placements));
  });
  for_each_batch(comm, order, [&](const std::vector<JobId>& batch) {
    write(gather_batch(comm, batch, std::span(plan.waiting)));
  });
  comm.agreed_on_root([&] {
    text->end();
    file->write(text->take());
    file->commit();
  });
}

}  // namespace berth::pipeline
