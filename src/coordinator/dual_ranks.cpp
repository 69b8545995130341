// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/dual_ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "berth/comm/messages.hpp"

namespace berth::coordinator {
namespace {

/// What rank 0 asks for next.
enum class Request : std::int64_t { end, share, sum, shards };

void announce(const comm::Communicator& comm, Request request) { comm.broadcast_value(request, 0); }

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// One rank's part of the work, and the first failure with it.
class ServedPart {
 public:
  ServedPart(const comm::Communicator& comm, const StopToken& stop) : comm_(comm), shards_(stop) {}

  void answer() {
    std::vector<ByteWriter> none(static_cast<std::size_t>(comm_.size()));
    auto messages = comm::exchange<ShardMessage>(comm_, std::move(none));
    std::vector<ShardMessage> answers;
    attempt([&] {
      const comm::Communicator::TraceSpan span(comm_, "shards", comm_.rank());
      answers = shards_.answer(std::move(messages));
    });
    if (failed_) answers = {{.shard = {}, .bytes = text_of(failed_)}};
    (void)comm::gather(comm_, std::span<const ShardMessage>(answers));
  }

  void receive() {
    std::vector<ByteWriter> none(static_cast<std::size_t>(comm_.size()));
    const std::vector<char> bytes = comm::exchange_bytes(comm_, std::move(none));
    part_.reset();
    attempt([&] { part_.emplace(std::string_view(bytes.data(), bytes.size())); });
  }

  void evaluate() {
    std::vector<double> message;  // the temperature, the prices
    comm_.broadcast_vector(message, 0);
    std::vector<std::int64_t> sums(message.size(), 0);
    attempt([&] {
      const comm::Communicator::TraceSpan span(comm_, "evaluate", comm_.rank());
      if (part_) part_->add_sums(std::span(message).subspan(1), message[0], sums);
    });
    if (failed_) std::ranges::fill(sums, 0);
    comm_.sum_to_root(std::span(sums), 0);
  }

  void rethrow() const {
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  template <class Work>
  void attempt(Work&& work) {
    if (failed_) return;
    try {
      work();
    } catch (...) {
      failed_ = std::current_exception();
    }
  }

  const comm::Communicator& comm_;
  std::optional<solver::DualPart> part_;
  ShardsOfRank shards_;
  std::exception_ptr failed_;
};

}  // namespace

RootOfDual::~RootOfDual() {
  try {
    announce(comm_, Request::end);
  } catch (const comm::MpiError&) {  // the ranks are lost; the first error is being reported
  }
}

void RootOfDual::share(std::vector<std::string> parts) {
  announce(comm_, Request::share);
  std::vector<std::size_t> counts;
  std::string all;
  for (const std::string& part : parts) {
    counts.push_back(part.size());
    all += part;
  }
  (void)comm_.all_to_all_varying<char>(all, counts);
}

void RootOfDual::sum(std::span<const double> ends, double temperature,
                     const std::function<void(std::span<std::int64_t>)>& own,
                     std::span<std::int64_t> sums) {
  announce(comm_, Request::sum);
  std::vector<double> message{temperature};
  message.insert(message.end(), ends.begin(), ends.end());
  comm_.broadcast_vector(message, 0);
  std::exception_ptr failed;
  try {
    own(sums);
  } catch (...) {
    failed = std::current_exception();
  }
  comm_.sum_to_root(sums, 0);
  if (failed) std::rethrow_exception(failed);
}

std::vector<ShardMessage> RootOfDual::ask(std::vector<ShardMessage> messages,
                                          std::span<const int> rank_of_shard) {
  std::vector<ByteWriter> to(size());
  std::vector<ShardMessage> own;
  for (ShardMessage& message : messages) {
    const int rank = rank_of_shard[message.shard.index()];
    if (rank == comm_.rank()) {
      own.push_back(std::move(message));
    } else {
      to[static_cast<std::size_t>(rank)](message);
    }
  }
  if (size() == 1) return own_.answer(std::move(own));
  announce(comm_, Request::shards);
  (void)comm::exchange<ShardMessage>(comm_, std::move(to));
  std::vector<ShardMessage> answers;
  std::exception_ptr failed;
  try {
    answers = own_.answer(std::move(own));
  } catch (...) {
    failed = std::current_exception();
  }
  answers = comm::gather(comm_, std::span<const ShardMessage>(answers));
  if (failed) std::rethrow_exception(failed);
  std::ranges::sort(answers, {}, &ShardMessage::shard);
  if (!answers.empty() && !answers.front().shard.valid()) {
    throw std::runtime_error(answers.front().bytes);  // of a rank that failed
  }
  return answers;
}

void serve_dual(const comm::Communicator& comm, const StopToken& stop) {
  ServedPart part(comm, stop);
  for (;;) {
    Request request{};
    comm.broadcast_value(request, 0);
    if (request == Request::end) break;
    if (request == Request::share) part.receive();
    if (request == Request::sum) part.evaluate();
    if (request == Request::shards) part.answer();
  }
  part.rethrow();
}

}  // namespace berth::coordinator
