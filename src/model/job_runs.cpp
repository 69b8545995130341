// SPDX-License-Identifier: Apache-2.0
// Runs as short numbers: times as distances, each amount in as few bytes as it needs.
#include "berth/model/job_runs.hpp"

#include <string>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::model {
namespace {

/// Small numbers of either sign become small ones: 0, -1, 1, -2, ...
std::uint64_t folded(std::int64_t x) {
  return (static_cast<std::uint64_t>(x) << 1) ^ static_cast<std::uint64_t>(x >> 63);
}

std::int64_t unfolded(std::uint64_t x) {
  return static_cast<std::int64_t>((x >> 1) ^ (~(x & 1) + 1));
}

void write_signed(ByteWriter& writer, std::int64_t x) { writer.number(folded(x)); }
std::int64_t read_signed(ByteReader& reader) { return unfolded(reader.number()); }

void encode(ByteWriter& writer, const JobRun& run, std::int64_t before) {
  write_signed(writer, run.start - before);
  write_signed(writer, run.end - run.start);
  write_signed(writer, run.overhead);
  write_signed(writer, run.work);
  writer(run.speed, run.ended);
  write_signed(writer, run.milli);
  write_signed(writer, run.batch);
  write_signed(writer, run.configuration);
  writer.number(run.rates.size());
  for (const RateStep& step : run.rates) {
    write_signed(writer, step.time - run.start);
    writer(step.speed);
  }
  writer.number(run.tasks.size());
  for (const TaskPlacement& task : run.tasks) {
    write_signed(writer, task.machine.value());
    writer.number(task.group);
    writer.number(task.devices);
    write_signed(writer, task.milli);
  }
}

}  // namespace

void JobRuns::Iterator::decode() {
  const std::int64_t before = run_.end;
  run_.start = before + read_signed(reader_);
  run_.end = run_.start + read_signed(reader_);
  run_.overhead = read_signed(reader_);
  run_.work = read_signed(reader_);
  reader_(run_.speed, run_.ended);
  run_.milli = read_signed(reader_);
  run_.batch = read_signed(reader_);
  run_.configuration = static_cast<std::int32_t>(read_signed(reader_));
  run_.rates.clear();
  for (std::uint64_t left = reader_.number(); left > 0; --left) {
    RateStep& step = run_.rates.emplace_back();
    step.time = run_.start + read_signed(reader_);
    reader_(step.speed);
  }
  run_.tasks.clear();
  for (std::uint64_t left = reader_.number(); left > 0; --left) {
    TaskPlacement& task = run_.tasks.emplace_back();
    task.machine = MachineId(static_cast<std::int32_t>(read_signed(reader_)));
    task.group = static_cast<std::uint32_t>(reader_.number());
    task.devices = reader_.number();
    task.milli = static_cast<std::int32_t>(read_signed(reader_));
  }
}

JobRuns::Iterator& JobRuns::Iterator::operator++() {
  --left_;
  if (open_ != nullptr) {
    ++open_;
  } else if (left_ > 0) {
    decode();
  }
  return *this;
}

std::size_t JobRuns::size() const {
  if (packed_.empty()) return open_.size();
  return static_cast<std::size_t>(ByteReader(packed_).number());
}

JobRuns::Iterator JobRuns::begin() const {
  Iterator first;
  first.left_ = size();
  if (packed_.empty()) {
    first.open_ = open_.data();
    return first;
  }
  first.reader_ = ByteReader(packed_);
  (void)first.reader_.number();
  first.decode();
  return first;
}

JobRuns::Iterator JobRuns::end() const { return {}; }

JobRun JobRuns::operator[](std::size_t index) const {
  BERTH_EXPECT(index < size());
  if (packed_.empty()) return open_[index];
  Iterator at = begin();
  while (index-- > 0) ++at;
  return *at;
}

void JobRuns::push_back(JobRun run) {
  BERTH_EXPECT(packed_.empty());
  open_.push_back(std::move(run));
}

JobRun& JobRuns::last() {
  BERTH_EXPECT(!open_.empty());
  return open_.back();
}

void JobRuns::pack() {
  if (open_.empty()) return;
  ByteWriter writer;
  writer.number(open_.size());
  std::int64_t before = 0;
  for (const JobRun& run : open_) {
    encode(writer, run, before);
    before = run.end;
  }
  const std::string bytes = writer.take();
  packed_.assign(bytes.begin(), bytes.end());
  std::vector<JobRun>().swap(open_);
}

}  // namespace berth::model
