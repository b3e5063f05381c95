// SPDX-License-Identifier: MIT
// In: a step and an error. Out: a sentence.
#include "client/problem.hpp"

#include <algorithm>
#include <new>
#include <optional>

#include "base/ascii.hpp"
#include "http/uri/masked_query.hpp"

namespace skua::client {
std::string without_userinfo(std::string_view url) {
  const std::size_t slashes = url.find("//");
  const std::size_t begin = slashes == url.npos ? 0 : slashes + 2;
  const std::string_view authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const std::size_t at = authority.rfind('@');
  if (at == authority.npos) return std::string(url);
  return std::string(url.substr(0, begin)).append(url.substr(begin + at + 1));
}

std::string step_of(std::string_view method, const Url& url) {
  Url shown = url;
  static_cast<void>(shown.set_userinfo({}));
  static_cast<void>(shown.set_fragment(std::nullopt));
  std::string step(method);
  std::transform(step.begin(), step.end(), step.begin(), ascii::to_lower);
  const std::string text = shown.to_string();
  return step.append(" ").append(http::MaskedQuery(text).text());
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
