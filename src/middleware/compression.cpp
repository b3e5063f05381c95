// SPDX-License-Identifier: MIT
// In: a response and the codings its client accepts. Out: the same content in a content coding,
// with matching fields. Content is compressed synchronously on the loop, hence the upper size
// bound. HEAD is treated as GET, so that both report the same Content-Length.
#include "middleware/compression.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/ascii.hpp"
#include "base/thread_object.hpp"
#include "coding/coding.hpp"
#include "files/mime_type.hpp"
#include "http/message/conditional.hpp"
#include "skua/accept.hpp"
#include "skua/body_writer.hpp"
#include "skua/compression.hpp"
#include "skua/error.hpp"
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

// Those of a thread, by Coding.
using KeptEncoders = std::array<KeptEncoder, 4>;

Encoder* borrow_encoder(Coding coding, int level) {
  KeptEncoder& slot = base::thread_object<KeptEncoders>()[static_cast<std::size_t>(coding)];
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
  if (!type.empty() && !files::is_compressible(type)) return;
  response.vary("Accept-Encoding");
  if (has_weak_form(request, response.header("ETag").value_or(""))) weaken_etag(response);
}

// RFC 9110 §15.3.7: the same holds for a 206, whatever the size of the complete representation.
void amend_partial(Response& response) {
  const std::string_view type = response.content_type();
  if (files::is_compressible(type) || type.starts_with("multipart/byteranges")) {
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
  return files::is_compressible(response.content_type()) && !response.header("Content-Range");
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

// Compressed streams: a sink between the producer and the server, pieces in, encoded pieces out.
// The server applies back-pressure based on the encoded bytes.

namespace skua::middleware {
namespace {

void require(const Result<void>& result) {
  if (!result) throw Exception(result.error());
}

class EncodingSink final : public detail::BodySink {
 public:
  EncodingSink(detail::BodySink& inner, coding::Encoder& encoder) noexcept
      : inner_(inner), encoder_(encoder) {}

  void write(Body&& piece) override {
    if (piece.file() != nullptr) {
      throw Exception(Error(Errc::Unsupported, "a file range in a compressed stream"));
    }
    taken_bytes_ += piece.size_bytes();
    std::string coded;
    require(encoder_.push(piece.text(), coded));
    require(encoder_.flush(coded));
    inner_.write(Body(std::move(coded)));
  }
  void add_trailer(std::string_view name, std::string_view value) override {
    inner_.add_trailer(name, value);
  }
  [[nodiscard]] bool has_room() const noexcept override { return inner_.has_room(); }
  void wait(detail::Waiter& waiter, std::coroutine_handle<> writer) override {
    inner_.wait(waiter, writer);
  }

  void finish(std::optional<std::uint64_t> told_bytes) {
    if (told_bytes && *told_bytes != taken_bytes_) {
      const Errc code = taken_bytes_ < *told_bytes ? Errc::TruncatedBody : Errc::BodyTooLong;
      throw Exception(Error(code, "the stream does not have its declared length"));
    }
    std::string coded;
    require(encoder_.finish({}, coded));
    inner_.write(Body(std::move(coded)));
  }

 private:
  detail::BodySink& inner_;
  coding::Encoder& encoder_;
  std::uint64_t taken_bytes_ = 0;
};

Task<> produce_encoded(std::shared_ptr<const BodyStream> plain,
                       std::shared_ptr<coding::Encoder> encoder, BodyWriter& writer) {
  EncodingSink sink(detail::sink_of(writer), *encoder);
  BodyWriter encoding(sink);
  co_await plain->produce(encoding);
  sink.finish(plain->length_bytes);
}

}  // namespace

std::shared_ptr<const BodyStream> compress_stream(std::shared_ptr<const BodyStream> plain,
                                                  coding::Encoder encoder) {
  auto coded = std::make_shared<BodyStream>();
  // Shared only because std::function has to be copyable; the content is produced once.
  coded->produce = [plain = std::move(plain),
                    encoder = std::make_shared<coding::Encoder>(std::move(encoder))](
                       BodyWriter& writer) { return produce_encoded(plain, encoder, writer); };
  return coded;
}

}  // namespace skua::middleware
