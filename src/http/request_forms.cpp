// SPDX-License-Identifier: MIT
// The content of a request as a form or as parts: what reads them asks for pieces, and a request
// has them.
#include <string>

#include "http/multipart_reader.hpp"
#include "skua/request.hpp"

namespace skua {
namespace {

Task<std::optional<Bytes>> read_piece(Request& request) {
  const std::optional<Bytes> piece = co_await request.read();
  co_return piece;
}

}  // namespace

Task<Result<Form>> Request::form(FormLimits limits) {
  return http::read_form(std::string(content_type()), [this] { return read_piece(*this); }, limits);
}

Multipart Request::multipart(const MultipartLimits& limits) {
  return {content_type(), [this] { return read_piece(*this); }, limits};
}

}  // namespace skua
