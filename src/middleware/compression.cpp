// SPDX-License-Identifier: MIT
// In: a response and the codings its client accepts. Out: the same content in a content coding,
// with matching fields. Content is compressed synchronously on the loop, hence the upper size
// bound. HEAD is treated as GET, so that both report the same Content-Length.
#include "skua/compression.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/ascii.hpp"
#include "coding/encoder.hpp"
#include "http/entity_tag.hpp"
#include "middleware/compressed_stream.hpp"
#include "middleware/compressible.hpp"
#include "middleware/compressor.hpp"
#include "skua/accept.hpp"
#include "skua/body_writer.hpp"
#include "skua/field_lines.hpp"
#include "skua/prepared_response.hpp"

namespace skua {
namespace middleware {
namespace {

using coding::Coding;
using coding::Encoder;

// The encoder that a thread reuses for a coding, to save its memory allocations.
struct KeptEncoder {
  std::optional<Encoder> encoder;
  int level = 0;
};

Encoder* borrow_encoder(Coding coding, int level) {
  thread_local std::array<KeptEncoder, 4> kept;
  KeptEncoder& slot = kept[static_cast<std::size_t>(coding)];
  if (slot.encoder && slot.level == level && slot.encoder->restart()) return &*slot.encoder;
  slot.encoder.reset();
  Result<Encoder> made = Encoder::create(coding, level);
  if (!made) return nullptr;
  slot.level = level;
  return &slot.encoder.emplace(*std::move(made));
}

// RFC 9111 §5.2.2.6
bool has_no_transform(const FieldLines& lines) noexcept {
  for (std::size_t nth = 0; const auto line = lines.find("Cache-Control", nth); ++nth) {
    for (std::string_view rest = *line; !rest.empty();) {
      if (ascii::equals_ignoring_case(ascii::take_list_element(rest), "no-transform")) return true;
    }
  }
  return false;
}

bool forbids_transform(const Response& response) noexcept {
  const PreparedResponse* const prepared = response.prepared();
  return has_no_transform(response.lines()) ||
         (prepared != nullptr && has_no_transform(prepared->lines()));
}

// RFC 9110 §8.8.3.3: a strong tag identifies one coding only.
void weaken_etag(Response& response) {
  const auto field = response.header("ETag");
  if (!field) return;
  const auto tag = http::parse_entity_tag(*field);
  if (tag && !tag->weak) response.header("ETag", "W/" + std::string(*field));
}

// Reports whether If-None-Match lists the weak form of a tag: then the client's copy is compressed.
bool has_weak_form(const Request& request, std::string_view etag) noexcept {
  const auto own = http::parse_entity_tag(etag);
  if (!own) return false;
  for (const auto [name, value] : request.headers()) {
    if (!ascii::equals_ignoring_case(name, "If-None-Match")) continue;
    http::EntityTagList list(value);
    while (const auto tag = list.next()) {
      if (tag->weak && tag->opaque == own->opaque) return true;
    }
  }
  return false;
}

// RFC 9110 §15.4.5: a 304 has the Vary and the ETag that the 200 would have. It usually lacks a
// Content-Type; a superfluous Vary does no harm.
void amend_unchanged(const Request& request, Response& response) {
  const std::string_view type = response.content_type();
  if (!type.empty() && !is_compressible(type)) return;
  response.vary("Accept-Encoding");
  if (has_weak_form(request, response.header("ETag").value_or(""))) weaken_etag(response);
}

// RFC 9110 §15.3.7: the same holds for a 206, whatever the size of the complete representation.
void amend_partial(Response& response) {
  const std::string_view type = response.content_type();
  if (is_compressible(type) || type.starts_with("multipart/byteranges")) {
    response.vary("Accept-Encoding");
  }
}

void amend_fields(Response& response, std::string_view coding) {
  response.header("Content-Encoding", coding);
  weaken_etag(response);
  // Digests and ranges apply to the coded content (RFC 9530 §2, §3; RFC 9110 §14.2).
  for (const std::string_view name :
       {"Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges"}) {
    response.remove_header(name);
  }
}

}  // namespace

Compressor::Compressor(const CompressionOptions& options) : options_(options) {
  if (options.min_bytes > options.max_bytes) {
    throw std::invalid_argument("compression: min_bytes exceeds max_bytes");
  }
  const Choice all[] = {{Coding::Zstd, options.zstd_level},
                        {Coding::Brotli, options.brotli_level},
                        {Coding::Gzip, options.gzip_level}};
  for (const Choice& choice : all) {
    if (choice.level == 0) continue;
    // Throws if the level does not exist.
    if (!Encoder::create(choice.coding, choice.level)) continue;
    choices_[count_] = choice;
    names_[count_] = coding::name(choice.coding);
    ++count_;
  }
  if (count_ == 0) throw std::invalid_argument("compression: no coding is available");
}

bool Compressor::applies_to(const Body& content) const noexcept {
  switch (content.kind()) {
    case Body::Kind::None:
    case Body::Kind::File: return false;
    case Body::Kind::Stream: {
      const BodyStream& stream = **content.stream();
      const bool is_long = stream.length_bytes.value_or(options_.min_bytes) >= options_.min_bytes;
      return options_.streams && is_long && !stream.is_endless;
    }
    default: break;
  }
  const std::size_t size_bytes = content.text().size();
  return size_bytes >= options_.min_bytes && size_bytes <= options_.max_bytes;
}

bool Compressor::applies(const Response& response) const noexcept {
  if (!applies_to(response.content())) return false;
  if (is_bodiless(response.status())) return false;
  return is_compressible(response.content_type()) && !response.header("Content-Range");
}

const Compressor::Choice* Compressor::choose(const Request& request) const noexcept {
  const auto preferred = preferred_encoding(request, std::span(names_).first(count_));
  for (std::size_t i = 0; i < count_; ++i) {
    if (preferred == names_[i]) return &choices_[i];
  }
  return nullptr;
}

void Compressor::finish(const Request& request, Response& response) const {
  if (forbids_transform(response) || response.header("Content-Encoding")) return;
  if (response.status() == Status::NotModified) return amend_unchanged(request, response);
  if (response.status() == Status::PartialContent) return amend_partial(response);
  if (!applies(response)) return;
  response.vary("Accept-Encoding");
  const Choice* const choice = choose(request);
  if (choice == nullptr) return;
  if (const auto* stream = response.content().stream()) {
    Result<Encoder> own = Encoder::create(choice->coding, choice->level);
    if (!own) return;
    amend_fields(response, coding::name(choice->coding));
    response.content() = Body(compress_stream(*stream, *std::move(own)));
    return;
  }
  Encoder* const encoder = borrow_encoder(choice->coding, choice->level);
  if (encoder == nullptr) return;
  std::string coded;
  // Content that does not shrink is sent unchanged.
  if (!encoder->finish(response.body(), coded) || coded.size() >= response.body().size()) return;
  amend_fields(response, coding::name(choice->coding));
  response.body(std::move(coded));
}

}  // namespace middleware

Compression::Compression(std::shared_ptr<const middleware::Compressor> compressor) noexcept
    : compressor_(std::move(compressor)) {}

void Compression::operator()(const Request& request, Response& response) const {
  compressor_->finish(request, response);
}

Compression compression(const CompressionOptions& options) {
  return Compression(std::make_shared<const middleware::Compressor>(options));
}

}  // namespace skua
