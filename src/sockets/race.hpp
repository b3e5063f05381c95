// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/local_end.hpp"
#include "net/problem.hpp"
#include "net/stream.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::sockets {

/// Starts connecting to an address; the sink's on_connect gets the outcome.
using OpenStream = std::function<Result<std::unique_ptr<net::Stream>>(
    loop::Loop& loop, const Address& address, net::StreamSink& sink)>;

/// Opens a socket and starts connecting it. Small writes go out at once, and a vanished peer is
/// noticed.
Result<std::unique_ptr<net::Stream>> open_socket(loop::Loop& loop, const Address& address,
                                                 net::StreamSink& sink);
/// Returns a function like open_socket() for sockets that are bound to this end.
OpenStream open_from(net::LocalEnd from);

/// Interleaves IPv6 and IPv4, IPv6 first, and keeps the order within each. RFC 8305 §4
std::vector<Address> take_turns(const std::vector<Address>& addresses);

/// Attempts to connect to the addresses of one host, each a while after the previous one or as soon
/// as that has failed; the first that succeeds wins.
///
/// Lifetime:  the loop and `open` outlive it; its destructor drops all attempts but the winner.
/// RFC:       8305 §5
class Race final {
 public:
  /// How long an attempt runs before the next one starts beside it.
  static constexpr Duration head_start = 250ms;

  Race(loop::Loop& loop, const OpenStream& open, std::vector<Address> addresses);
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;
  ~Race();

  /// Returns the stream that connected first, without a listener. Call it once.
  ///
  /// Ends with: the error of the attempt that failed last; TimedOut after `limit`.
  Task<Result<net::HeldStream>> run(Duration limit);

 private:
  class Attempt;

  bool start_next();
  void drop_failed();
  [[nodiscard]] std::unique_ptr<net::Stream> take_winner();

  loop::Loop& loop_;
  const OpenStream& open_;
  std::vector<Address> addresses_;
  std::size_t next_ = 0;      // index into addresses_
  loop::Instant next_due_{};  // when it is tried, even while other attempts are running
  std::vector<std::unique_ptr<Attempt>> attempts_;
  Error last_failure_;
  skua::detail::WaiterList changed_;
};

/// Connects to the first of the addresses that answers. `whom` goes into the text of a problem.
///
/// Ends with: TimedOut after `limit`; the error of the attempt that failed last.
/// Lifetime:  the loop and `open` outlive the task, which ends all attempts.
Task<Result<net::HeldStream, Problem>> reach(loop::Loop& loop, const OpenStream& open,
                                             std::string whom, std::vector<Address> addresses,
                                             net::TimeLimit limit);

}  // namespace skua::sockets
