// SPDX-License-Identifier: MIT
#include "files/site_answer.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "files/listing/escape.hpp"
#include "skua/accept.hpp"

namespace skua::files {

std::optional<Response> refuse_method(const Request& request) {
  if (request.method() == Method::Get || request.method() == Method::Head) return std::nullopt;
  return Response(Status::MethodNotAllowed).header("Allow", "GET, HEAD");
}

std::string url_of(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  std::string url = "/";
  append_path(url, path);
  return url;
}

// The location is built from the parsed path, not the raw one.
Response redirect_to_folder(const Request& request, std::string_view cache_control) {
  std::string location = url_of(request.path());
  location += '/';
  if (!request.query_string().empty()) location.append("?").append(request.query_string());
  Response response = Response::redirect(location, Status::MovedPermanently);
  if (!cache_control.empty()) response.header("Cache-Control", cache_control);
  return response;
}

std::string_view path_below_route(const Request& request) noexcept {
  const std::string_view path = request.path();
  const http::Captures* const captures = http::RequestAccess::captures(request);
  if (captures == nullptr || captures->count == 0) return path;
  const std::string_view rest = (*captures)[captures->count - 1];
  if (!path.ends_with(rest)) return path;
  const std::size_t begin = path.size() - rest.size();
  return path.substr(begin == 0 ? 0 : begin - 1);
}

PreferredCodings::PreferredCodings(const Request& request) noexcept : request_(request) {
  if (!head_of(request).has(http::FieldName::AcceptEncoding)) return;
  for (const coding::Coding coding : all) names_[count_++] = coding::name(coding);
}

std::optional<coding::Coding> PreferredCodings::next() noexcept {
  const std::span<std::string_view> left = std::span(names_).first(count_);
  const auto at = std::ranges::find(left, preferred_encoding(request_, left).value_or(""));
  if (at == left.end()) return std::nullopt;
  const auto coding = coding::find_coding(*at);
  std::shift_left(at, left.end(), 1);
  --count_;
  return coding;
}

}  // namespace skua::files
