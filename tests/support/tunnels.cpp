// SPDX-License-Identifier: MIT
#include "support/tunnels.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "net/socket.hpp"

namespace skua::testing {

void carry(int left, int right) {
  const std::array<int, 2> sides{left, right};
  std::array<pollfd, 2> entries{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    entries[i].fd = bsd::native(sides[i]);
    entries[i].events = POLLIN;
  }
  std::array<char, 16384> buffer;
  while (bsd::poll(entries.data(), entries.size(), -1) > 0) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      if (entries[i].revents == 0) continue;
      const ssize_t count = bsd::recv(sides[i], buffer.data(), buffer.size(), 0);
      if (count <= 0) return;
      std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
      while (!bytes.empty()) {
        const ssize_t sent = bsd::send(sides[1 - i], bytes.data(), bytes.size(), bsd::no_signal);
        if (sent > 0) {
          bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno != EAGAIN ||
                   !net::wait_until(sides[1 - i], POLLOUT, net::Deadline::max())) {
          return;
        }
      }
    }
  }
}

namespace {

/// Takes exactly what it is asked for; empty once the client has left.
class Reader {
 public:
  explicit Reader(Client& peer) : peer_(peer) {}
  std::string take(std::size_t count) {
    while (received_.size() < count) {
      const std::string some = peer_.some();
      if (some.empty()) return {};
      received_ += some;
    }
    const std::string taken = received_.substr(0, count);
    received_.erase(0, count);
    return taken;
  }
  /// Takes a text that follows its length.
  std::string text() {
    const std::string size = take(1);
    return size.empty() ? "" : take(static_cast<std::uint8_t>(size[0]));
  }

 private:
  Client& peer_;
  std::string received_;
};

std::string host_of(Reader& reader, char type) {
  if (type == 3) return reader.text();
  const std::string octets = reader.take(type == 4 ? 16 : 4);
  sockaddr_in four{};
  sockaddr_in6 six{};
  Address address;
  if (type == 4) {
    six.sin6_family = AF_INET6;
    octets.copy(reinterpret_cast<char*>(&six.sin6_addr), 16);
    address = Address::from_sockaddr(reinterpret_cast<sockaddr*>(&six), sizeof six);
  } else {
    four.sin_family = AF_INET;
    octets.copy(reinterpret_cast<char*>(&four.sin_addr), 4);
    address = Address::from_sockaddr(reinterpret_cast<sockaddr*>(&four), sizeof four);
  }
  std::array<char, Address::max_text_bytes> text;
  return std::string(address.format_host(text));
}

bool authenticate(Client& peer, Reader& reader, const SocksRules& rules, SocksAsked& asked) {
  const std::string head = reader.take(2);
  if (head.empty()) return false;
  const std::string methods = reader.take(static_cast<std::uint8_t>(head[1]));
  const char wanted = rules.user.empty() ? 0 : 2;
  const bool is_offered = methods.find(wanted) != methods.npos;
  peer.send(std::string{5, is_offered ? wanted : '\xff'});
  if (!is_offered || wanted == 0) return is_offered;
  reader.take(1);
  asked.user = reader.text();
  asked.password = reader.text();
  const bool is_right = asked.user == rules.user && asked.password == rules.password;
  peer.send(std::string{1, is_right ? '\0' : '\1'});
  return is_right;
}

}  // namespace

void serve_socks(Client& peer, const Address& server, const SocksRules& rules, SocksAsked& asked) {
  Reader reader(peer);
  if (!authenticate(peer, reader, rules, asked)) return;
  const std::string request = reader.take(4);
  if (request.empty()) return;
  asked.is_name = request[3] == 3;
  asked.host = host_of(reader, request[3]);
  const std::string port = reader.take(2);
  if (port.empty()) return;
  asked.port = static_cast<std::uint16_t>((static_cast<unsigned char>(port[0]) << 8U) |
                                          static_cast<unsigned char>(port[1]));
  if (rules.refusal_code != 0) {
    peer.send(std::string{5, static_cast<char>(rules.refusal_code), 0, 1, 0, 0, 0, 0, 0, 0});
    return;
  }
  const auto onward = TcpSocket::connect_to(server);
  if (!onward) return;
  peer.send(std::string{5, 0, 0, 1, 127, 0, 0, 1, 0, 80});
  carry(peer.descriptor(), onward->descriptor());
}

}  // namespace skua::testing
