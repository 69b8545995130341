// SPDX-License-Identifier: Apache-2.0
#include "slurm/hostlist.hpp"
#include "slurm/snapshot.hpp"
#include "words.hpp"

#include <algorithm>
#include <array>

namespace berth::io::slurm {
namespace {

constexpr const char* kSqueueHint = "save `squeue --json`";

std::int64_t amount(const JsonAt& at) {
  const Number n = number(at);
  return n.set && !n.infinite ? n.value : 0;
}

/// Number of cores by socket in the format of v0.0.38: {"0": {"cores": {"4": "allocated"}}}.
std::int64_t old_cores(const JsonAt& sockets) {
  std::int64_t count = 0;
  if (sockets.empty() || sockets.type() != simdjson::dom::element_type::OBJECT) return 0;
  sockets.entries([&](const JsonAt& socket) {
    if (socket.type() != simdjson::dom::element_type::OBJECT) return;
    socket.entries([&](const JsonAt& cores) {
      if (cores.key() != "cores" || cores.type() != simdjson::dom::element_type::OBJECT) return;
      cores.entries([&](const JsonAt&) { ++count; });
    });
  });
  return count;
}

const Readers<Allocation> kMemory{
    {"allocated", [](Allocation& a, const JsonAt& v) { a.memory_mib = amount(v); }}};
const Readers<Allocation> kCpus{
    {"count", [](Allocation& a, const JsonAt& v) { a.cpus = amount(v); }}};

/// An entry of "allocated_nodes" (v0.0.38, v0.0.39) or of "nodes"."allocation" (v0.0.40 on).
const Readers<Allocation> kAllocation{
    {"nodename", [](Allocation& a, const JsonAt& v) { a.node = text(v); }},
    {"name", [](Allocation& a, const JsonAt& v) { a.node = text(v); }},
    {"sockets", [](Allocation& a, const JsonAt& v) { a.cores = old_cores(v); }},
    {"memory_allocated", [](Allocation& a, const JsonAt& v) { a.memory_mib = amount(v); }},
    {"memory", [](Allocation& a, const JsonAt& v) { read_fields(v, kMemory, a); }},
    {"cpus", [](Allocation& a, const JsonAt& v) { read_fields(v, kCpus, a); }}};

void read_allocations(SlurmJob& job, const JsonAt& at) {
  if (at.empty() || at.type() != simdjson::dom::element_type::ARRAY) return;
  at.each([&](const JsonAt& element) {
    read_fields(element, kAllocation, job.allocation.emplace_back());
  });
}

const Readers<SlurmJob> kResourceNodes{{"allocation", read_allocations}};
const Readers<SlurmJob> kResources{
    {"allocated_nodes", read_allocations},
    {"nodes", [](SlurmJob& j, const JsonAt& v) {
       if (!v.empty() && v.type() == simdjson::dom::element_type::OBJECT) {
         read_fields(v, kResourceNodes, j);
       }
     }}};

void read_state(SlurmJob& job, const JsonAt& at) {
  job.states = flags(at);
  if (!job.states.empty()) job.state = job.states.front();
}

/// Reads the sharing mode. "none": whole nodes. Later versions write ["none"], and ["true"] under
/// "exclusive".
void read_sharing(SlurmJob& job, const JsonAt& at) {
  constexpr std::array<std::string_view, 5> whole{"NONE", "TRUE", "USER", "MCS", "TOPO"};
  if (!at.empty() && at.type() == simdjson::dom::element_type::BOOL) return;
  for (const std::string& word : flags(at)) {
    if (std::ranges::find(whole, word) != whole.end()) job.exclusive = true;
  }
}

/// The text if a jobs file can hold it as a name, else nothing.
std::string sound_name(const JsonAt& at) {
  std::string name = text(at);
  if (!name_fault(name).empty()) name.clear();
  return name;
}

const Readers<SlurmJob> kJobReaders{
    {"job_id", [](SlurmJob& j, const JsonAt& v) { j.id = amount(v); }},
    {"job_state", read_state},
    {"state_reason", [](SlurmJob& j, const JsonAt& v) { j.reason = text(v); }},
    {"hold", [](SlurmJob& j, const JsonAt& v) { j.held = j.held || truth(v); }},
    {"priority",
     [](SlurmJob& j, const JsonAt& v) {
       j.priority = amount(v);
       j.held = j.held || (number(v).set && j.priority == 0);
     }},
    {"submit_time", [](SlurmJob& j, const JsonAt& v) { j.submitted = amount(v); }},
    {"eligible_time", [](SlurmJob& j, const JsonAt& v) { j.eligible = amount(v); }},
    {"start_time", [](SlurmJob& j, const JsonAt& v) { j.started = amount(v); }},
    {"array_job_id", [](SlurmJob& j, const JsonAt& v) { j.array_id = amount(v); }},
    {"array_task_id", [](SlurmJob& j, const JsonAt& v) { j.array_task = number(v); }},
    {"array_task_string", [](SlurmJob& j, const JsonAt& v) { j.array_tasks = text(v); }},
    {"array_max_tasks", [](SlurmJob& j, const JsonAt& v) { j.array_limit = amount(v); }},
    {"het_job_id", [](SlurmJob& j, const JsonAt& v) { j.het_id = amount(v); }},
    {"name", [](SlurmJob& j, const JsonAt& v) { j.name = sound_name(v); }},
    {"user_name", [](SlurmJob& j, const JsonAt& v) { j.user = sound_name(v); }},
    {"admin_comment", [](SlurmJob& j, const JsonAt& v) { j.admin_comment = text(v); }},
    {"qos", [](SlurmJob& j, const JsonAt& v) { j.qos = text(v); }},
    {"partition", [](SlurmJob& j, const JsonAt& v) { j.partitions = list(v); }},
    {"dependency", [](SlurmJob& j, const JsonAt& v) { j.dependency = text(v); }},
    {"features", [](SlurmJob& j, const JsonAt& v) { j.features = text(v); }},
    {"resv_name", [](SlurmJob& j, const JsonAt& v) { j.reservation = text(v); }},
    {"licenses", [](SlurmJob& j, const JsonAt& v) { j.licenses = text(v); }},
    {"network", [](SlurmJob& j, const JsonAt& v) { j.network = text(v); }},
    {"burst_buffer", [](SlurmJob& j, const JsonAt& v) { j.burst_buffer = text(v); }},
    {"required_nodes", [](SlurmJob& j, const JsonAt& v) { j.required = hosts(v); }},
    {"excluded_nodes", [](SlurmJob& j, const JsonAt& v) { j.excluded = hosts(v); }},
    {"node_count", [](SlurmJob& j, const JsonAt& v) { j.min_nodes = amount(v); }},
    {"max_nodes", [](SlurmJob& j, const JsonAt& v) { j.max_nodes = amount(v); }},
    {"tasks", [](SlurmJob& j, const JsonAt& v) { j.tasks = amount(v); }},
    {"cpus", [](SlurmJob& j, const JsonAt& v) { j.cpus = amount(v); }},
    {"tasks_per_node", [](SlurmJob& j, const JsonAt& v) { j.tasks_per_node = amount(v); }},
    {"minimum_cpus_per_node",
     [](SlurmJob& j, const JsonAt& v) { j.min_cpus_per_node = amount(v); }},
    {"sockets_per_node", [](SlurmJob& j, const JsonAt& v) { j.sockets_per_node = amount(v); }},
    {"memory_per_node", [](SlurmJob& j, const JsonAt& v) { j.memory_per_node = amount(v); }},
    {"memory_per_cpu", [](SlurmJob& j, const JsonAt& v) { j.memory_per_cpu = amount(v); }},
    {"tres_per_job", [](SlurmJob& j, const JsonAt& v) { j.per_job = text(v); }},
    {"tres_per_node", [](SlurmJob& j, const JsonAt& v) { j.per_node = text(v); }},
    {"tres_per_socket", [](SlurmJob& j, const JsonAt& v) { j.per_socket = text(v); }},
    {"tres_per_task", [](SlurmJob& j, const JsonAt& v) { j.per_task = text(v); }},
    {"cpus_per_tres", [](SlurmJob& j, const JsonAt& v) { j.cpus_per_tres = text(v); }},
    {"memory_per_tres", [](SlurmJob& j, const JsonAt& v) { j.memory_per_tres = text(v); }},
    {"tres_req_str", [](SlurmJob& j, const JsonAt& v) { j.requested = text(v); }},
    {"tres_alloc_str", [](SlurmJob& j, const JsonAt& v) { j.allocated = text(v); }},
    {"minimum_switches", [](SlurmJob& j, const JsonAt& v) { j.switches = amount(v); }},
    {"required_switches", [](SlurmJob& j, const JsonAt& v) { j.switches = amount(v); }},
    {"shared", read_sharing},
    {"exclusive", read_sharing},
    {"contiguous",
     [](SlurmJob& j, const JsonAt& v) {
       j.contiguous = v.type() == simdjson::dom::element_type::OBJECT ? amount(v) != 0 : truth(v);
     }},
    {"core_spec", [](SlurmJob& j, const JsonAt& v) { j.core_spec = amount(v) > 0; }},
    {"time_limit", [](SlurmJob& j, const JsonAt& v) { j.minutes = number(v); }},
    {"nodes", [](SlurmJob& j, const JsonAt& v) { j.nodes = hosts(v); }},
    {"gres_detail", [](SlurmJob& j, const JsonAt& v) { j.gres_detail = list(v); }},
    {"job_resources",
     [](SlurmJob& j, const JsonAt& v) {
       if (!v.empty()) read_fields(v, kResources, j);
     }},
};

}  // namespace

std::vector<SlurmJob> read_jobs(const Source& source) {
  std::vector<SlurmJob> jobs;
  read_list(source, "jobs", kSqueueHint, [&](const JsonAt& at) {
    at.each([&](const JsonAt& element) {
      SlurmJob job;
      read_fields(element, kJobReaders, job);
      if (job.id <= 0) element.fail("a job without a \"job_id\"", kSqueueHint);
      if (job.state.empty())
        element.fail("job " + std::to_string(job.id) + " has no \"job_state\"", kSqueueHint);
      job.held = job.held || job.reason.starts_with("JobHeld");
      jobs.push_back(std::move(job));
    });
  });
  return jobs;
}

}  // namespace berth::io::slurm
