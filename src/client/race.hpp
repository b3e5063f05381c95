// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/stream.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// Begins to connect to an address, and tells the sink by on_connect.
using OpenStream = std::function<Result<std::unique_ptr<net::Stream>>(
    loop::Loop& loop, const net::Address& address, net::StreamSink& sink)>;

/// A socket that is being connected: small writes go out at once, and a peer that has vanished is
/// noticed.
Result<std::unique_ptr<net::Stream>> open_socket(loop::Loop& loop, const net::Address& address,
                                                 net::StreamSink& sink);

/// The addresses in turns, IPv6 first; the order within a family stays. RFC 8305 §4
std::vector<net::Address> take_turns(const std::vector<net::Address>& addresses);

/// Attempts to connect to the addresses of one host, each a while after the one before or as soon
/// as that has failed; the first that succeeds wins.
///
/// Lifetime:  loop and `open` outlive it; with it go all attempts but the winner.
/// RFC:       8305 §5
class Race final {
 public:
  /// How long an attempt has before the next begins beside it.
  static constexpr Duration head_start = 250ms;

  Race(loop::Loop& loop, const OpenStream& open, std::vector<net::Address> addresses);
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;
  ~Race();

  /// The stream that was connected first; nobody listens to it any more. Once.
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
  std::vector<net::Address> addresses_;
  std::size_t next_ = 0;      // of the addresses
  loop::Instant next_due_{};  // when it is tried, even if another attempt goes on
  std::vector<std::unique_ptr<Attempt>> attempts_;
  Error last_failure_;
  skua::detail::WaiterList changed_;
};

}  // namespace skua::client
