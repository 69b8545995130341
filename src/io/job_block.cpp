// SPDX-License-Identifier: Apache-2.0
#include "job_block.hpp"

#include <span>
#include <utility>

namespace berth::io {
namespace {

using model::Workload;

void put(ByteWriter& bytes, const std::string& text) { bytes.list(std::span<const char>(text)); }

std::string text_from(ByteReader& bytes) {
  std::string text;
  bytes.list(text);
  return text;
}

template <class Items, class Put>
void put_each(ByteWriter& bytes, const Items& items, const Put& put_one) {
  bytes.value(std::uint64_t{items.size()});
  for (const auto& item : items) put_one(item);
}

template <class Items, class Take>
void take_each(ByteReader& bytes, Items& items, const Take& take_one) {
  std::uint64_t size = 0;
  for (bytes.value(size); size > 0; --size) items.push_back(take_one());
}

template <class T>
void put(ByteWriter& bytes, const std::vector<T>& list) {
  bytes.list(std::span<const T>(list));
}

void put(ByteWriter& bytes, const Workload& workload) {
  put(bytes, workload.job_names.characters());
  put(bytes, workload.job_names.ends());
  put(bytes, workload.jobs);
  put(bytes, workload.groups);
  put(bytes, workload.shapes);
  put(bytes, workload.factors);
  put_each(bytes, workload.labels, [&](const std::string& label) { put(bytes, label); });
  put(bytes, workload.running);
  put(bytes, workload.running_tasks);
}

void take(ByteReader& bytes, Workload& workload) {
  std::string characters = text_from(bytes);
  std::vector<std::uint64_t> ends;
  bytes.list(ends);
  workload.job_names = NameTable::from_columns(std::move(characters), std::move(ends));
  bytes.list(workload.jobs);
  bytes.list(workload.groups);
  bytes.list(workload.shapes);
  bytes.list(workload.factors);
  take_each(bytes, workload.labels, [&] { return text_from(bytes); });
  bytes.list(workload.running);
  bytes.list(workload.running_tasks);
}

void put_row(ByteWriter& bytes, const SpeedRow& row) {
  put_each(bytes, row, [&](const auto& entry) {
    bytes.value(entry.first);
    bytes.value(entry.second);
  });
}

SpeedRow row_from(ByteReader& bytes) {
  SpeedRow row;
  take_each(bytes, row, [&] {
    SpeedRow::value_type entry;
    bytes.value(entry.first);
    bytes.value(entry.second);
    return entry;
  });
  return row;
}

}  // namespace

std::string packed(const JobBlock& block) {
  ByteWriter bytes;
  put(bytes, block.workload);
  put(bytes, block.lines);
  put_each(bytes, block.speeds, [&](const SpeedRow& row) { put_row(bytes, row); });
  put_each(bytes, block.gpu_types, [&](const JobBlock::NewType& type) {
    put(bytes, type.name);
    bytes.value(type.line);
    put(bytes, type.field);
  });
  bytes.value(block.line_count);
  bytes.value(block.first_spread);
  bytes.value(block.fault.has_value());
  if (block.fault) {
    bytes.value(block.fault->line);
    put(bytes, block.fault->field);
    put(bytes, block.fault->problem);
    put(bytes, block.fault->hint);
  }
  return bytes.take();
}

JobBlock unpack_block(ByteReader& bytes) {
  JobBlock block;
  take(bytes, block.workload);
  bytes.list(block.lines);
  take_each(bytes, block.speeds, [&] { return row_from(bytes); });
  take_each(bytes, block.gpu_types, [&] {
    JobBlock::NewType type;
    type.name = text_from(bytes);
    bytes.value(type.line);
    type.field = text_from(bytes);
    return type;
  });
  bytes.value(block.line_count);
  bytes.value(block.first_spread);
  bool broken = false;
  bytes.value(broken);
  if (broken) {
    JobBlock::LineFault fault;
    bytes.value(fault.line);
    fault.field = text_from(bytes);
    fault.problem = text_from(bytes);
    fault.hint = text_from(bytes);
    block.fault = std::move(fault);
  }
  return block;
}

}  // namespace berth::io
