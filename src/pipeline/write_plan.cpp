// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/write_plan.hpp"

#include "batched_gather.hpp"
#include "distributed_judge.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/certify/check.hpp"
#include "berth/comm/messages.hpp"
#include "berth/io/file.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::pipeline {
namespace {

using certify::PlanCheck;

/// Reads back Berth's own text: a fault in it is never the user's.
template <class Read>
auto read_back(const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw std::logic_error(fmt::format("the plan cannot be read back: {}", error.what()));
  }
}

PlanCheck::Order order_of(const model::WorkloadView& workload) {
  const auto by_name = [&](JobId a, JobId b) {
    return workload.tables().job_names[a.index()] < workload.tables().job_names[b.index()];
  };
  return std::ranges::is_sorted(all_jobs(workload), by_name) ? PlanCheck::Order::by_name
                                                             : PlanCheck::Order::any;
}

/// A plan file being written; every piece of its text is read back and judged.
class CheckedFile {
 public:
  CheckedFile(const std::string& path, const model::InstanceView& instance, const model::Plan& plan)
      : path_(path), file_(path), text_(instance, plan) {
    const std::string head = take();
    head_ = read_back([&] { return io::parse_plan(head + "]}", path_); });
    check_.emplace(instance, head_, order_of(instance.workload));
  }

  /// @param jobs  the instance has their records now  @param placed  placements of the placed ones
  void add(std::span<const JobId> jobs, const model::Placement& placed) {
    check_->add_records(jobs);
    text_.add(placed);
    const std::string piece = take();
    check_->add(read_back([&] { return io::parse_placements(piece, path_); }));
  }
  void end_placements() {
    check_->end_records();
    text_.end_placements();
    take();
  }
  void add(std::span<const model::UnplacedJob> waiting) {
    text_.add(waiting);
    const std::string piece = take();
    check_->add(read_back([&] { return io::parse_waiting(piece, path_); }));
  }

  [[nodiscard]] PlanCheck& check() { return *check_; }

  /// Replaces an earlier file. @throws std::logic_error when the plan has a fault
  void commit(const std::optional<certify::Bound>& bound) {
    text_.end();
    take();
    const certify::CheckResult checked = check_->checked(bound);
    if (!checked.valid()) {
      const certify::Fault& first = checked.faults.front();
      throw std::logic_error(fmt::format(
          "{}: not written, the plan is invalid: {}: {}{}; this is a bug", path_,
          certify::name(first.kind), first.text,
          checked.fault_count > 1 ? fmt::format(" (and {} faults more)", checked.fault_count - 1)
                                  : std::string()));
    }
    file_.commit();
  }

 private:
  std::string take() {
    std::string piece = text_.take();
    file_.write(piece);
    return piece;
  }

  std::string path_;
  io::AtomicFile file_;
  io::PlanText text_;
  model::RawPlan head_;
  std::optional<PlanCheck> check_;
};

/// The bound that the prices in rank 0's file prove; empty, with a fault, when they are unusable.
std::optional<certify::Bound> bound_of(const DistributedJudge& judge,
                                       std::optional<CheckedFile>& file,
                                       const model::Placement& placement) {
  std::optional<model::Certificate> prices;
  judge.comm().agreed_on_root([&] { prices = file->check().prices(judge.facts()); });
  bool usable = prices.has_value();
  judge.comm().broadcast_value(usable);
  if (!usable) return std::nullopt;
  return judge.bound(prices.value_or(model::Certificate{}), placement);
}

/// Proves the bound of each class of a plan by priority for rank 0's file.
void prove_classes(const comm::Communicator& comm, const model::InstanceView& instance,
                   const model::Plan& plan, std::span<const JobId> home,
                   std::optional<CheckedFile>& file) {
  std::vector<std::vector<model::PriorityWeight>> weights;
  std::vector<std::int32_t> priorities;
  comm.agreed_on_root([&] {
    weights = file->check().class_weights();
    priorities = file->check().priorities();
  });
  comm::broadcast(comm, weights);
  comm::broadcast(comm, priorities);
  model::WorkloadTables tables = instance.workload.tables();
  const model::InstanceView weighted(instance.cluster, {tables, instance.workload.records()});
  for (std::size_t k = 0; k < weights.size(); ++k) {
    model::set_weights(instance.workload.tables(), weights[k], tables);
    const auto counted = certify::jobs_of_class(instance.workload, home, priorities[k]);
    const DistributedJudge judge(comm, weighted, plan.objective_kind, counted);
    std::optional<model::Certificate> prices;
    comm.agreed_on_root([&] { prices = file->check().class_prices(k, weighted, judge.facts()); });
    bool usable = prices.has_value();
    comm.broadcast_value(usable);
    if (!usable) continue;
    const certify::Bound bound =
        judge.bound(prices.value_or(model::Certificate{}), plan.placements);
    comm.agreed_on_root([&] { file->check().add_class(k, std::move(*prices), bound); });
  }
}

}  // namespace

void write_plan(const comm::Communicator& comm, const std::string& path,
                const model::InstanceView& instance, const model::Plan& plan,
                coordinator::JobRecords& jobs) {
  std::optional<CheckedFile> file;  // on rank 0 only
  std::vector<JobId> order;
  comm.agreed_on_root([&] {
    file.emplace(path, instance, plan);
    order = all_jobs(instance.workload);
  });
  for_each_batch(comm, order, [&](const std::vector<JobId>& batch) {
    const auto borrowed = jobs.borrow(batch);
    const model::Placement placed = gather_batch(comm, batch, plan.placements);
    comm.agreed_on_root([&] { file->add(batch, placed); });
  });
  comm.agreed_on_root([&] { file->end_placements(); });
  for_each_batch(comm, order, [&](const std::vector<JobId>& batch) {
    const auto waiting = gather_batch(comm, batch, std::span(plan.waiting));
    comm.agreed_on_root([&] { file->add(waiting); });
  });
  const std::vector<JobId> home = jobs.home_jobs();
  const DistributedJudge judge(comm, instance, plan.objective_kind, home);
  const auto bound = bound_of(judge, file, plan.placements);
  if (!plan.classes.empty()) prove_classes(comm, instance, plan, home, file);
  comm.agreed_on_root([&] { file->commit(bound); });
}

}  // namespace berth::pipeline
