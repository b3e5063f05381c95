// SPDX-License-Identifier: MIT
#include "proxy/grpc.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>

#include "base/ascii.hpp"
#include "proxy/content.hpp"

namespace skua::proxy {
namespace {

constexpr std::size_t most_digits = 8;
constexpr std::string_view overdue_status = "4";  // DEADLINE_EXCEEDED
constexpr std::string_view overdue_text = "deadline exceeded at the proxy";

std::optional<Duration> unit_of(char letter) noexcept {
  switch (letter) {
    case 'H': return std::chrono::hours(1);
    case 'M': return std::chrono::minutes(1);
    case 'S': return std::chrono::seconds(1);
    case 'm': return std::chrono::milliseconds(1);
    case 'u': return std::chrono::microseconds(1);
    case 'n': return std::chrono::nanoseconds(1);
    default: return std::nullopt;
  }
}

}  // namespace

bool is_grpc(const http::Head& head) noexcept {
  constexpr std::string_view name = "application/grpc";
  const http::FieldLine* const type = head.find(http::FieldName::ContentType);
  if (type == nullptr) return false;
  const std::string_view text = head.value(*type);
  if (!ascii::equals_ignoring_case(text.substr(0, name.size()), name)) return false;
  // `application/grpc-web` is another protocol, over plain HTTP.
  return text.size() == name.size() || text[name.size()] == '+' || text[name.size()] == ';';
}

std::optional<Duration> parse_grpc_timeout(std::string_view text) noexcept {
  if (text.size() < 2 || text.size() > most_digits + 1) return std::nullopt;
  const std::optional<Duration> unit = unit_of(text.back());
  text.remove_suffix(1);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (!unit || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // Eight digits of hours are more than a Duration holds.
  const auto most = static_cast<std::uint64_t>(Duration::max() / *unit);
  return count > most ? Duration::max() : *unit * static_cast<Duration::rep>(count);
}

Response deadline_exceeded() {
  Response response(Status::Ok, no_content(), "application/grpc");
  response.header("grpc-status", overdue_status).header("grpc-message", overdue_text);
  return response;
}

void end_overdue(BodyWriter& out) {
  out.trailer("grpc-status", overdue_status);
  out.trailer("grpc-message", overdue_text);
}

}  // namespace skua::proxy
