// SPDX-License-Identifier: MIT
// In: host names. Out: addresses, and connections to them.
#include "sockets/connect.hpp"

#include <optional>
#include <utility>

#include "skua/resolver.hpp"
#include "sockets/race.hpp"
#include "sockets/resolver.hpp"

namespace skua {

struct Resolver::Impl {
  sockets::Resolver names{loop::Loop::current()};
};

Resolver::Resolver() : impl_(std::make_unique<Impl>()) {}
Resolver::Resolver(Resolver&&) noexcept = default;
Resolver& Resolver::operator=(Resolver&&) noexcept = default;
Resolver::~Resolver() = default;

Task<Result<std::vector<Address>, Problem>> Resolver::resolve(std::string host, std::uint16_t port,
                                                              Duration patience) {
  return impl_->names.resolve(std::move(host), port, {patience});
}

namespace sockets {

Task<Result<net::HeldStream, Problem>> connect(std::string host, std::uint16_t port,
                                               ConnectOptions options) {
  std::optional<skua::Resolver> own;
  if (options.resolver == nullptr) options.resolver = &own.emplace();
  const std::string whom = host + ":" + std::to_string(port);
  Result<Addresses, Problem> addresses =
      co_await options.resolver->resolve(std::move(host), port, options.resolve);
  if (!addresses) co_return std::move(addresses).error();
  const OpenStream open = open_socket;
  const net::TimeLimit limit{options.connect, "ConnectOptions::connect"};
  Result<net::HeldStream, Problem> connected =
      co_await reach(loop::Loop::current(), open, whom, *std::move(addresses), limit);
  co_return connected;
}

}  // namespace sockets
}  // namespace skua
