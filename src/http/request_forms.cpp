// SPDX-License-Identifier: MIT
// Reads the content of a request as a form or as parts, from the pieces that the request supplies.
// Encoded content is refused: its bytes are not a form.
#include <string>
#include <string_view>

#include "base/ascii.hpp"
#include "http/multipart_reader.hpp"
#include "skua/request.hpp"

namespace skua {
namespace {

// Reports whether the content has a coding other than identity. RFC 9110 §8.4
bool has_coding(const Request& request) noexcept {
  for (const auto [name, value] : request.headers()) {
    if (!ascii::equals_ignoring_case(name, "Content-Encoding")) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::string_view coding = ascii::take_list_element(rest);
      if (!coding.empty() && !ascii::equals_ignoring_case(coding, "identity")) return true;
    }
  }
  return false;
}

Task<Result<Form>> refuse_form() {
  co_return Error(Errc::UnsupportedMediaType, "Content-Encoding");
}

Task<std::optional<Bytes>> read_piece(Request& request) {
  const std::optional<Bytes> piece = co_await request.read();
  co_return piece;
}

}  // namespace

Task<Result<Form>> Request::form(FormLimits limits) {
  if (has_coding(*this)) return refuse_form();
  return http::read_form(std::string(content_type()), [this] { return read_piece(*this); }, limits);
}

Multipart Request::multipart(const MultipartLimits& limits) {
  const std::string_view type = has_coding(*this) ? std::string_view() : content_type();
  return {type, [this] { return read_piece(*this); }, limits};
}

}  // namespace skua
