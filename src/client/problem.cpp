// SPDX-License-Identifier: MIT
// In: a step and an error. Out: a sentence.
#include "client/problem.hpp"

#include <algorithm>
#include <new>
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

Problem timed_out(const std::string& step, const TimeLimit& limit) {
  std::string reason(limit.missing);
  reason.append(" within ").append(text_of(limit.time));
  return could_not(step, Errc::TimedOut, reason.append(" (").append(limit.name).append(")"));
}

Problem problem_of(const std::exception_ptr& thrown) {
  Problem problem;
  problem.error = Errc::Cancelled;
  try {
    std::rethrow_exception(thrown);
  } catch (const Exception& exception) {
    problem.error = exception.error();
    problem.text = exception.what();
  } catch (const std::bad_alloc&) {
    problem.error = Error(Errc::OutOfMemory, "request");
    problem.text = "no memory";  // short enough not to allocate
  } catch (const std::exception& exception) {
    problem.text = exception.what();
  } catch (...) {
    problem.text = "an exception of an unknown type";
  }
  return problem;
}

Problem not_a_url(const std::string& step, std::string_view url, Error error) {
  const std::string shown = without_userinfo(url);
  const std::size_t slashes = shown.find("//");
  const std::size_t begin = slashes == shown.npos ? shown.size() : slashes + 2;
  const std::string_view host =
      std::string_view(shown).substr(begin, shown.find_first_of("/?#", begin) - begin);
  const bool is_ascii =
      std::ranges::all_of(host, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (is_ascii) return could_not(step, error);
  return could_not(step, error,
                   "its host has letters outside ASCII: write it in its ASCII form, as in "
                   "xn--bcher-kva.example for b\xc3\xbc"
                   "cher.example");
}

}  // namespace skua::client
