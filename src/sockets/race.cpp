// SPDX-License-Identifier: MIT
// In: addresses. Out: the first stream that connects. Attempts record their outcome and wake the
// one task that examines them all.
#include "sockets/race.hpp"

#include <algorithm>
#include <utility>

#include "loop/clock.hpp"
#include "loop/timed_wait.hpp"
#include "net/socket.hpp"
#include "net/tcp_stream.hpp"

namespace skua::sockets {

class Race::Attempt final : public net::StreamSink {
 public:
  explicit Attempt(skua::detail::WaiterList& changed) noexcept : changed_(changed) {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    if (stream) net::close_detached(std::move(stream));
  }

  [[nodiscard]] bool has_won() const noexcept { return is_over_ && error.code() == Errc::None; }
  [[nodiscard]] bool has_failed() const noexcept { return is_over_ && !has_won(); }

  std::unique_ptr<net::Stream> stream;
  Error error = Errc::None;

 private:
  void on_connect(Error outcome) override {
    is_over_ = true;
    error = outcome;
    changed_.wake_all();
  }
  // Nothing else can happen before the stream is connected.
  void on_receive(std::span<char> /*bytes*/) override {}
  void on_receive_end(Error /*why*/) override {}
  void on_sent(std::size_t /*count*/) override {}
  void on_send_failed(Error /*why*/) override {}
  void on_closed() override {}

  skua::detail::WaiterList& changed_;
  bool is_over_ = false;
};

namespace {

Result<std::unique_ptr<net::Stream>> open_socket_from(const net::LocalEnd* from, loop::Loop& loop,
                                                      const Address& address,
                                                      net::StreamSink& sink) {
  Result<Socket> socket = net::create_socket(address.family());
  if (!socket) return socket.error();
  if (from != nullptr) {
    if (const Result<void> bound = from->bind(*socket, address); !bound) return bound.error();
  }
  if (address.is_ip()) {
    net::set_no_delay(socket->descriptor());
    net::keep_alive(socket->descriptor());
  }
  auto stream = std::make_unique<net::TcpStream>(loop.backend(), *std::move(socket));
  stream->listen(sink);
  stream->connect(address);
  return std::unique_ptr<net::Stream>(std::move(stream));
}

}  // namespace

Result<std::unique_ptr<net::Stream>> open_socket(loop::Loop& loop, const Address& address,
                                                 net::StreamSink& sink) {
  return open_socket_from(nullptr, loop, address, sink);
}

OpenStream open_from(net::LocalEnd from) {
  return [from = std::move(from)](loop::Loop& loop, const Address& address, net::StreamSink& sink) {
    return open_socket_from(&from, loop, address, sink);
  };
}

std::vector<Address> take_turns(const std::vector<Address>& addresses) {
  std::vector<Address> turns;
  std::vector<Address> others;
  for (const Address& one : addresses) {
    (one.family() == Address::Family::Ipv6 ? turns : others).push_back(one);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::size_t place = std::min(2 * i + 1, turns.size());
    turns.insert(turns.begin() + static_cast<std::ptrdiff_t>(place), others[i]);
  }
  return turns;
}

Race::Race(loop::Loop& loop, const OpenStream& open, std::vector<Address> addresses)
    : loop_(loop),
      open_(open),
      addresses_(std::move(addresses)),
      next_due_(loop.now()),
      last_failure_(Errc::InvalidAddress, "connect") {}

Race::~Race() = default;

Task<Result<net::HeldStream>> Race::run(Duration limit) {
  const loop::Instant began = loop_.now();
  while (true) {
    net::HeldStream winner = take_winner();
    if (winner) co_return std::move(winner);
    drop_failed();
    const loop::Instant now = loop_.now();
    Duration left = limit - (now - began);
    if (left <= Duration(0)) co_return Error(Errc::TimedOut, "connect");
    if (next_ < addresses_.size()) {
      if (attempts_.empty() || now >= next_due_) {
        next_due_ = start_next() ? later(now, head_start) : now;
        continue;
      }
      left = std::min(left, next_due_ - now);
    } else if (attempts_.empty()) {
      co_return last_failure_;
    }
    co_await loop::TimedWait(loop_, changed_, left);
  }
}

/// Starts the next attempt. Returns false if it failed at once.
bool Race::start_next() {
  auto attempt = std::make_unique<Attempt>(changed_);
  Result<std::unique_ptr<net::Stream>> stream = open_(loop_, addresses_[next_++], *attempt);
  if (!stream) {
    last_failure_ = stream.error();
    return false;
  }
  attempt->stream = *std::move(stream);
  attempts_.push_back(std::move(attempt));
  return true;
}

/// RFC 8305 §5: if an attempt fails, the next one starts at once.
void Race::drop_failed() {
  for (const auto& attempt : attempts_) {
    if (!attempt->has_failed()) continue;
    last_failure_ = attempt->error;
    next_due_ = loop_.now();
  }
  std::erase_if(attempts_, [](const auto& attempt) { return attempt->has_failed(); });
}

std::unique_ptr<net::Stream> Race::take_winner() {
  const auto winner =
      std::ranges::find_if(attempts_, [](const auto& attempt) { return attempt->has_won(); });
  return winner == attempts_.end() ? nullptr : std::move((*winner)->stream);
}

Task<Result<net::HeldStream, Problem>> reach(loop::Loop& loop, const OpenStream& open,
                                             std::string whom, std::vector<Address> addresses,
                                             net::TimeLimit limit) {
  const std::string step = "connect to " + whom;
  Race race(loop, open, take_turns(addresses));
  Result<net::HeldStream> winner = co_await race.run(limit.time);
  if (winner) co_return *std::move(winner);
  const Error error = winner.error();
  const bool is_ours = error.code() == Errc::TimedOut && error.system_code() == 0;
  co_return is_ours ? net::timed_out(step, limit) : net::could_not(step, error);
}

}  // namespace skua::sockets
