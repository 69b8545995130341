// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/dual_ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "berth/comm/messages.hpp"

namespace berth::coordinator {
namespace {

/// What rank 0 asks for next.
enum class Request : std::int64_t { end, share, sum };

void announce(const comm::Communicator& comm, Request request) { comm.broadcast_value(request, 0); }

/// One rank's part of the dual, and the first failure with it.
class ServedPart {
 public:
  explicit ServedPart(const comm::Communicator& comm) : comm_(comm) {}

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

void serve_dual(const comm::Communicator& comm) {
  ServedPart part(comm);
  for (;;) {
    Request request{};
    comm.broadcast_value(request, 0);
    if (request == Request::end) break;
    if (request == Request::share) part.receive();
    if (request == Request::sum) part.evaluate();
  }
  part.rethrow();
}

}  // namespace berth::coordinator
