// SPDX-License-Identifier: MIT
// An origin in, a stream out: the name, the race of its addresses, TLS. Whatever a phase has is
// owned by an object in the task's frame, so that dropping the task ends it.
#include "client/connector.hpp"

#include <utility>

#include "client/handshake.hpp"

namespace skua::client {
namespace {

std::string without_brackets(std::string host) {
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  return host;
}

}  // namespace

Connector::Connector(loop::Loop& loop, Resolver& resolver, OpenStream open)
    : loop_(loop), resolver_(resolver), open_(std::move(open)) {}

Task<Outcome<std::unique_ptr<net::Stream>>> Connector::connect(const Origin& origin,
                                                               const ConnectOptions& options) {
  return establish(origin, options);
}

Task<Outcome<std::unique_ptr<net::Stream>>> Connector::establish(Origin origin,
                                                                 ConnectOptions options) {
  const std::string whom = origin.to_string();
  const std::string tls_step = "speak TLS with " + whom;
  if (origin.is_secure && options.tls == nullptr) {
    co_return could_not(tls_step, Error(Errc::Unsupported, "TLS"), "it is not set up");
  }
  if (origin.is_secure && origin.host.empty()) {
    co_return could_not(tls_step, Errc::InvalidHost, "no host is named that it could prove to be");
  }
  Outcome<Addresses> addresses = co_await addresses_of(origin, options.resolve_limit);
  if (!addresses) co_return addresses.error();
  auto connected = co_await reach(whom, *std::move(addresses), options.connect_limit);
  if (!connected || !origin.is_secure) co_return connected;
  Handshake handshake(loop_, *std::move(connected),
                      options.tls->connect(without_brackets(origin.host)));
  Outcome<std::unique_ptr<net::Stream>> secure =
      co_await handshake.run(tls_step, options.tls_limit);
  co_return secure;
}

Task<Outcome<Addresses>> Connector::addresses_of(const Origin& origin, Duration limit) {
  if (origin.unix_path.empty()) {
    Outcome<Addresses> found = co_await resolver_.resolve(origin.host, origin.port, limit);
    co_return found;
  }
  const Result<net::Address> address = net::Address::unix_path(origin.unix_path);
  if (!address) co_return could_not("connect to " + origin.to_string(), address.error());
  Addresses one(1, *address);
  co_return one;
}

/// The race is over when this is: no attempt goes on beside what follows.
Task<Outcome<std::unique_ptr<net::Stream>>> Connector::reach(std::string whom, Addresses addresses,
                                                             Duration limit) {
  const std::string step = "connect to " + whom;
  Race race(loop_, open_, take_turns(addresses));
  Result<std::unique_ptr<net::Stream>> winner = co_await race.run(limit);
  if (winner) co_return *std::move(winner);
  const Error error = winner.error();
  const bool is_ours = error.code() == Errc::TimedOut && error.system_code() == 0;
  co_return is_ours ? timed_out(step, limit) : could_not(step, error);
}

}  // namespace skua::client
