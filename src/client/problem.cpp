// SPDX-License-Identifier: MIT
// A step and an error in, a sentence out.
#include "client/problem.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/ascii.hpp"

namespace skua::client {
namespace {

std::string text_of(Duration time) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  if (milliseconds % 1000 != 0) return std::to_string(milliseconds) + " ms";
  return std::to_string(milliseconds / 1000) + " s";
}

}  // namespace

std::string reason_of(Error error) {
  // Here the resolver's own words say more.
  if (error.code() == Errc::NameNotResolved && !error.context().empty()) {
    return std::string(error.context());
  }
  if (error.code() == Errc::SystemFailure && error.system_code() != 0) {
    return std::generic_category().message(error.system_code());
  }
  return std::string(message(error.code()));
}

std::string without_userinfo(std::string_view url) {
  const std::size_t slashes = url.find("//");
  const std::size_t begin = slashes == url.npos ? 0 : slashes + 2;
  const std::string_view authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const std::size_t at = authority.rfind('@');
  if (at == authority.npos) return std::string(url);
  return std::string(url.substr(0, begin)).append(url.substr(begin + at + 1));
}

std::string step_of(Method method, const Url& url) {
  Url shown = url;
  static_cast<void>(shown.set_userinfo({}));
  static_cast<void>(shown.set_fragment(std::nullopt));
  std::string step(name(method));
  std::transform(step.begin(), step.end(), step.begin(), ascii::to_lower);
  return step + " " + shown.to_string();
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

Problem timed_out(const std::string& step, Duration limit) {
  return could_not(step, Errc::TimedOut, "no answer within " + text_of(limit));
}

}  // namespace skua::client
