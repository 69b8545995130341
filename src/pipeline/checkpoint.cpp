// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/checkpoint.hpp"

#include <string_view>

#include <fmt/format.h>

#include "berth/base/bytes.hpp"
#include "berth/base/error.hpp"
#include "berth/coordinator/wire.hpp"
#include "berth/io/file.hpp"
#include "berth/model/digest.hpp"

namespace berth::pipeline {
namespace {

constexpr std::string_view kFirstWords = "berth checkpoint ";
constexpr std::string_view kFormat = "3";
constexpr std::size_t kDigestSize = 64;

std::string content_of(const Checkpoint& c) {
  ByteWriter w;
  w.list<char>(c.instance_digest);
  w.list<char>(c.options);
  w.list<double>(c.consensus.prices);
  w.list<double>(c.consensus.quotas);
  w.list<double>(c.consensus.links);
  w.value(c.consensus.bound);
  w.value(std::int64_t{c.consensus.evaluations});
  w.list<solver::ShapePrice>(c.shape_prices);
  w.list<std::int64_t>(coordinator::to_wire(c.rounds.spanning));
  w.value(std::int64_t{c.rounds.round});
  w.value(std::int64_t{c.rounds.regroups});
  w.value(std::int64_t{c.rounds.idle_rounds});
  w.value(c.rounds.shards);
  w.list<coordinator::Refusal>(c.rounds.refusals);
  w.value(std::uint64_t{c.rounds.flights.size()});
  for (const coordinator::Flight& flight : c.rounds.flights) {
    w.list<solver::Offer>(flight.offers);
    w.list<solver::Bid>(flight.bids);
  }
  w.list<std::int64_t>(c.contents);
  return w.take();
}

int small(ByteReader& reader) {
  std::int64_t value = 0;
  reader.value(value);
  return static_cast<int>(value);
}

Checkpoint parse(std::string_view content) {
  Checkpoint c;
  ByteReader r(content);
  r.list(c.instance_digest);
  r.list(c.options);
  r.list(c.consensus.prices);
  r.list(c.consensus.quotas);
  r.list(c.consensus.links);
  r.value(c.consensus.bound);
  c.consensus.evaluations = small(r);
  r.list(c.shape_prices);
  std::vector<std::int64_t> spanning;
  r.list(spanning);
  c.rounds.spanning = coordinator::from_wire(spanning);
  c.rounds.round = small(r);
  c.rounds.regroups = small(r);
  c.rounds.idle_rounds = small(r);
  r.value(c.rounds.shards);
  r.list(c.rounds.refusals);
  std::uint64_t flights = 0;
  r.value(flights);
  while (flights-- > 0) {
    coordinator::Flight& flight = c.rounds.flights.emplace_back();
    r.list(flight.offers);
    r.list(flight.bids);
  }
  r.list(c.contents);
  return c;
}

[[noreturn]] void refuse(const std::string& path, const std::string& field,
                         const std::string& problem, const std::string& hint) {
  throw InputError({.file = path, .line = 0, .field = field}, problem, hint);
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const std::string content = content_of(checkpoint);
  const std::string digest = model::Sha256().text(content).hex();
  io::write_atomically(path, [&](io::AtomicFile& file) {
    file.write(fmt::format("{}{} {}\n", kFirstWords, kFormat, digest));
    file.write(content);
  });
}

Checkpoint read_checkpoint(const std::string& path) {
  const std::string whole = io::read_file(path);
  const std::string_view text = whole;
  const std::size_t end = text.substr(0, 2 * kDigestSize).find('\n');
  const std::string_view line = text.substr(0, end == text.npos ? 0 : end);
  if (!line.starts_with(kFirstWords)) {
    refuse(path, "", "not a checkpoint of berth", "give a file that --checkpoint wrote");
  }
  const std::string_view words = line.substr(kFirstWords.size());
  if (words.substr(0, words.find(' ')) != kFormat || words.size() != 2 + kDigestSize) {
    refuse(path, "", "a checkpoint of another version of berth", "start the plan anew");
  }
  const std::string_view content = text.substr(end + 1);
  if (model::Sha256().text(content).hex() != words.substr(2)) {
    refuse(path, "", "cut short or damaged", "start the plan anew");
  }
  return parse(content);
}

void expect_same_run(const std::string& path, const Checkpoint& checkpoint,
                     const std::string& instance_digest, const std::string& options) {
  if (checkpoint.instance_digest != instance_digest) {
    refuse(path, "instance", "made from other clusters or jobs than these",
           "give the files of the interrupted run");
  }
  if (checkpoint.options != options) {
    refuse(path, "options",
           fmt::format("made with {}, now asked for {}", checkpoint.options, options),
           "give the options of the interrupted run");
  }
}

}  // namespace berth::pipeline
