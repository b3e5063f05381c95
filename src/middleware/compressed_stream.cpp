// SPDX-License-Identifier: MIT
// Sits between a stream's producer and the server's sink: pieces in, encoded pieces out. The server
// applies back-pressure based on the encoded bytes.
#include "middleware/compressed_stream.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "skua/error.hpp"

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
