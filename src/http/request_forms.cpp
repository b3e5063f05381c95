// SPDX-License-Identifier: MIT
// The content of a request as a form or as parts: what reads them asks for pieces, and a request
// has them. Content in a coding is refused: its bytes are no form.
#include <string>
#include <string_view>

#include "base/ascii.hpp"
#include "http/multipart_reader.hpp"
#include "skua/request.hpp"

namespace skua {
namespace {

// RFC 9110 §8.4: a coding other than identity, which is said for nothing.
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
