// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "h1/body_decoder.hpp"
#include "h1/framing.hpp"
#include "h1/head_parser.hpp"
#include "http/field.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"

namespace skua::h1 {

/// What a response may cost.
struct ResponseLimits {
  HeadLimits head{.fields = 256};  ///< of each head; `target_bytes` are those of the reason phrase
  BodyLimits body{};
  std::uint16_t interim_responses = 32;  ///< else TooManyInterimResponses
  std::uint32_t interim_bytes = 64_KiB;  ///< their heads together; else HeadTooLong
};

/// What a response depends on in the request that it answers.
struct ResponseTo {
  Method method = Method::Get;
  bool offers_upgrade = false;  ///< it had an Upgrade field, so that 101 may come
};

/// What reading came to.
enum class ResponseEvent : std::uint8_t {
  NeedMore,  ///< all of the input was used
  Interim,   ///< head() is that of a 1xx response; the final one is still to come
  Head,      ///< head() is the final one, or 101
  Data,      ///< a piece of the content, never empty
  Complete,  ///< the response ends here; what is left of the input is not its
  Switched,  ///< what is left belongs to another protocol: behind 101, and 2xx to CONNECT
  Failed,    ///< see error(); the connection is of no more use
};

/// Reads one response after the other, as their bytes arrive. The events depend on the bytes only,
/// never on how they were split, but for the number of pieces that content comes in.
///
/// ```
/// reader.start({.method = Method::Get});
/// for (bool more = true; more;) {
///   const auto step = reader.read(input);
///   input.remove_prefix(step.consumed_bytes);
///   switch (step.event) {
///     case ResponseEvent::Data: use(step.data); break;
///     case ResponseEvent::NeedMore: input = receive(); break;  // or end_of_input()
///     ...
///   }
/// }
/// ```
/// NeedMore, Complete, Switched and Failed end a round; after any other event there may be one
/// more even where no input is left.
///
/// RFC:       9112 §4, §6, §7.1, §8; 9110 §15.2
class ResponseReader final {
 public:
  struct Step {
    ResponseEvent event = ResponseEvent::NeedMore;
    std::size_t consumed_bytes = 0;  ///< of the input
    std::string_view data{};         ///< a view into the input
  };

  /// Expects a response to GET until start() says something else.
  explicit ResponseReader(const ResponseLimits& limits = {});
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;
  ~ResponseReader() = default;

  /// Ready for the response to the next request on the connection.
  void start(ResponseTo request);

  /// Reads on, up to the next event. Complete, Switched and Failed come again and again, and use
  /// nothing.
  Step read(std::string_view input);

  /// The server sends no more, and said so: over TLS only close_notify ends a response that has no
  /// length. A response that ends so is Complete.
  ///
  /// Ends with: Closed where the head of the final response is not whole, TruncatedBody; the
  ///            earlier error, if there was one.
  Result<void> end_of_input();

  /// The head that Interim or Head has told. A copy: it needs no input.
  ///
  /// Lifetime:  of an interim response until the next read(), of the final one until start().
  [[nodiscard]] const http::Head& head() const noexcept SKUA_LIFETIMEBOUND { return head_; }
  /// What its fields say about the body and the connection; as long as head().
  [[nodiscard]] const Framing& framing() const noexcept SKUA_LIFETIMEBOUND { return framing_; }
  /// The trailer fields, after Complete, without those that must not be merged; until start().
  [[nodiscard]] const http::Head& trailers() const noexcept SKUA_LIFETIMEBOUND {
    return decoder_.trailers();
  }
  /// Why read() answered Failed.
  [[nodiscard]] Error error() const noexcept { return error_; }

  /// Whether the server has sent a byte in answer to the request. Where it closes before it does, a
  /// request that may be repeated can be.
  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  /// Whether the connection may carry another request: after Complete, if nothing was left of the
  /// input that no request has asked for.
  ///
  /// RFC:       9112 §9.3
  [[nodiscard]] bool can_be_reused() const noexcept {
    return state_ == State::Complete && keeps_alive_;
  }

 private:
  enum class State : std::uint8_t { Head, Body, Complete, Switched, Failed };

  Step read_head(std::string_view input);
  Step take_head(std::size_t consumed_bytes);
  Step take_interim(std::size_t consumed_bytes);
  Step read_body(std::string_view input);
  Step fail(Error error) noexcept;

  const ResponseLimits limits_;
  std::vector<http::FieldLine> lines_;
  HeadParser parser_;
  BodyDecoder decoder_;
  std::string head_text_;  // of the head that is being read, or was read last
  http::Head head_;
  Framing framing_;
  ResponseTo request_;
  Error error_{Errc::None};
  State state_ = State::Head;
  bool has_begun_ = false;
  bool is_interim_told_ = false;  // head_text_ is no longer needed
  bool keeps_alive_ = true;       // as far as the heads so far say
  std::uint16_t interim_count_ = 0;
  std::size_t interim_bytes_ = 0;
};

}  // namespace skua::h1
