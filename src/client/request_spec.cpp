// SPDX-License-Identifier: MIT
// In: a request's spec. Out: the content that a connection sends. Files are read on another thread,
// while they are sent.
#include "client/request_spec.hpp"

#include <memory>
#include <utility>

#include "skua/async.hpp"
#include "skua/body_writer.hpp"
#include "skua/multipart_writer.hpp"

namespace skua::client {
namespace {

constexpr std::size_t file_piece_bytes = 64 * 1024;

Result<std::string> read_piece(MultipartWriter& parts) {
  std::string piece(file_piece_bytes, '\0');
  const Result<std::size_t> size = parts.read(piece);
  if (!size) return size.error();
  piece.resize(*size);
  return piece;
}

Task<> send_parts(std::shared_ptr<MultipartWriter> parts, BodyWriter& out) {
  const auto read = [parts] { return read_piece(*parts); };
  while (true) {
    Result<std::string> piece = co_await offload(read);
    if (!piece) throw Exception(piece.error());
    if (piece->empty()) co_return;
    co_await out.write(*std::move(piece));
  }
}

constexpr std::string_view any_type = "application/octet-stream";

Result<void> add_file(MultipartWriter& parts, const FormFile& file) {
  const std::string_view type = file.type.empty() ? any_type : file.type;
  if (file.text == nullptr) return parts.file(file.name, file.path, type);
  parts.memory(file.name, file.path, type, *file.text);
  return {};
}

Result<std::shared_ptr<MultipartWriter>, Problem> make_parts(const RequestSpec& spec) {
  auto parts = std::make_shared<MultipartWriter>();
  for (const auto& [name, value] : spec.form) parts->field(name, value);
  for (const FormFile& file : spec.files) {
    const Result<void> added = add_file(*parts, file);
    if (!added) {
      return Problem{added.error(),
                     "the file " + file.path + ": " + std::string(message(added.error().code()))};
    }
  }
  return parts;
}

RequestContent multipart_content(const std::shared_ptr<MultipartWriter>& parts) {
  auto stream = std::make_shared<BodyStream>();
  stream->length_bytes = parts->length_bytes();
  stream->produce = [parts](BodyWriter& out) { return send_parts(parts, out); };
  RequestContent made;
  made.type = parts->content_type();
  made.body = Body(std::shared_ptr<const BodyStream>(std::move(stream)));
  made.is_given = true;
  return made;
}

}  // namespace

Result<RequestContent, Problem> make_content(const RequestSpec& spec) {
  if (spec.parts != nullptr) return multipart_content(spec.parts);
  if (!spec.files.empty()) {
    auto parts = make_parts(spec);
    if (!parts) return std::move(parts).error();
    return multipart_content(*parts);
  }
  RequestContent made;
  if (!spec.form.empty()) {
    made.body = Body(std::make_shared<const std::string>(spec.form.to_string()));
    made.type = "application/x-www-form-urlencoded";
    made.is_given = true;
    return made;
  }
  made.body = spec.content;
  made.type = spec.content_type;
  made.is_given = spec.is_content_given;
  return made;
}

bool has_content(const RequestSpec& spec) noexcept {
  return spec.is_content_given || spec.parts != nullptr || !spec.form.empty() ||
         !spec.files.empty();
}

bool sends_files(const RequestSpec& spec) noexcept {
  return spec.parts != nullptr || !spec.files.empty();
}

bool is_repeatable(const RequestSpec& spec) noexcept {
  if (spec.parts != nullptr) return false;
  if (spec.forwarding && spec.forwarding->may_repeat) return spec.forwarding->may_repeat();
  return !spec.files.empty() || !spec.form.empty() || spec.content.kind() != Body::Kind::Stream;
}

}  // namespace skua::client
