// SPDX-License-Identifier: MIT
// In: what was being done, and an error. Out: a sentence.
#include "net/problem.hpp"

#include <array>
#include <cstdint>
#include <system_error>

#include "loop/sockets.hpp"

namespace skua::net {
namespace {

std::string text_of(Duration time) {
  const auto milliseconds =
      static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
  if (milliseconds % 1000 != 0) return std::to_string(milliseconds) + " ms";
  return std::to_string(milliseconds / 1000) + " s";
}

}  // namespace

std::string reason_of(Error error) {
  // The resolver's own message says more.
  if (error.code() == Errc::NameNotResolved && !error.context().empty()) {
    return std::string(error.context());
  }
  // The message from TLS says whose certificate it was.
  if (error.code() == Errc::TlsCertificate && !error.context().empty()) {
    return std::string(error.context());
  }
  // The system's words say which failure it was, or whether the network or the host is missing.
  const bool is_vague = error.code() == Errc::SystemFailure || error.code() == Errc::Unreachable;
  if (is_vague && error.system_code() != 0) {
    return std::generic_category().message(error.system_code());
  }
  return std::string(message(error.code()));
}

Problem could_not(const std::string& step, Error error, const std::string& reason) {
  Problem problem;
  problem.error = error;
  problem.text.append("could not ").append(step).append(": ").append(reason);
  return problem;
}

Problem could_not(const std::string& step, Error error) {
  return could_not(step, error, reason_of(error));
}

Problem timed_out(const std::string& step, const TimeLimit& limit) {
  std::string reason(limit.missing);
  reason.append(" within ").append(text_of(limit.time));
  if (*limit.name != '\0') reason.append(" (").append(limit.name).append(")");
  return could_not(step, Errc::TimedOut, reason);
}

Problem could_not(const char* step, std::string_view object, Error error) {
  Problem problem;
  problem.error = error;
  problem.text.append("could not ").append(step).append(" ").append(object).append(": ");
  problem.text.append(Error(error.code(), "", error.system_code()).message());
  return problem;
}

Problem could_not(const char* step, const Address& address, Error error) {
  std::array<char, Address::max_text_bytes> text;
  return could_not(step, address.format(text), error);
}

Problem could_not_listen(const Address& address, Error error) {
  Problem problem = could_not("listen on", address, error);
  const bool is_low = address.is_ip() && address.port() != 0 && address.port() < 1024;
  if (error.code() == Errc::AddressInUse) {
    const std::string path(address.path());
    problem.text.append(path.empty() || bsd::is_socket_file(path)
                            ? "; choose another, or end the program that has it"
                            : "; the file is not a socket");
  } else if (error.code() == Errc::AddressUnavailable) {
    problem.text.append("; no interface of this machine has it: 0.0.0.0 and :: are all of them");
  } else if (error.code() == Errc::PermissionDenied && is_low) {
    problem.text.append("; ports below 1024 need root or CAP_NET_BIND_SERVICE");
  }
  return problem;
}

}  // namespace skua::net
