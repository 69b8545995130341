// SPDX-License-Identifier: Apache-2.0
#include "horizon/problem_bytes.hpp"

#include <string>
#include <string_view>

#include "berth/solver/horizon_shard.hpp"

namespace berth::solver {
namespace {

template <class Archive>
void list_fields(Archive& archive, NamedJobs& jobs) {
  archive(jobs.problem, jobs.names);
}

template <class Archive>
void list_fields(Archive& archive, HorizonShardTask& task) {
  archive(task.shard);
  list_fields(archive, task.jobs);
  HorizonBound& b = task.bound;
  archive(b.grid, b.ends, b.bound, b.temperature, b.evaluations, b.budgets, b.list_cost, b.shares,
          b.sizes);
  archive(task.dependencies, task.plan, task.planned, task.kept, task.machine_visits);
}

template <class Archive>
void list_fields(Archive& archive, HorizonGuests& guests) {
  list_fields(archive, guests.jobs);
  archive(guests.costs);
}

template <class T>
std::string fields_of(const T& value) {
  ByteWriter writer;
  list_fields(writer, const_cast<T&>(value));  // which changes none
  return writer.take();
}

template <class T>
T fields_from(std::string_view bytes) {
  T value{};
  ByteReader reader(bytes);
  list_fields(reader, value);
  return value;
}

}  // namespace

std::string bytes_of(const HorizonShardTask& task) { return fields_of(task); }
HorizonShardTask shard_task_from(std::string_view bytes) {
  return fields_from<HorizonShardTask>(bytes);
}
std::string bytes_of(const HorizonGuests& guests) { return fields_of(guests); }
HorizonGuests guests_from(std::string_view bytes) { return fields_from<HorizonGuests>(bytes); }

}  // namespace berth::solver
