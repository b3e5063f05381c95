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
#include "http/message/field.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"

namespace skua::h1 {

/// Limits on a response.
struct ResponseLimits {
  HeadLimits head{.fields = 256};  ///< per head; `target_bytes` limits the reason phrase
  BodyLimits body{};
  std::uint16_t interim_responses = 32;  ///< else TooManyInterimResponses
  std::uint32_t interim_bytes = 64_KiB;  ///< total of their heads; else HeadTooLong
};

/// The properties of a request that affect how its response is read.
struct ResponseTo {
  Method method = Method::Get;
  bool offers_upgrade = false;  ///< it has an Upgrade field, so 101 is allowed
};

/// The result of a read.
enum class ResponseEvent : std::uint8_t {
  NeedMore,  ///< all of the input was used
  Interim,   ///< head() is a 1xx response; the final one is still to come
  Head,      ///< head() is the final one, or 101
  Data,      ///< a piece of the content, never empty
  Complete,  ///< the response ends here; any remaining input is not part of it
  Switched,  ///< the remaining input belongs to another protocol: after 101 or 2xx to CONNECT
  Failed,    ///< see error(); the connection is unusable
};

/// Reads a sequence of responses as their bytes arrive. The events depend only on the bytes, never
/// on how they were split, except for the number of Data events.
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
/// NeedMore, Complete, Switched and Failed end a round; after any other event another may follow
/// even if no input is left.
///
/// RFC:       9112 §4, §6, §7.1, §8; 9110 §15.2
class ResponseReader final {
 public:
  struct Step {
    ResponseEvent event = ResponseEvent::NeedMore;
    std::size_t consumed_bytes = 0;  ///< of the input
    std::string_view data{};         ///< a view into the input
  };

  /// Expects a response to GET until start() is called.
  explicit ResponseReader(const ResponseLimits& limits = {});
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;
  ~ResponseReader() = default;

  /// Prepares for the response to the next request on the connection.
  void start(ResponseTo request);

  /// Reads up to the next event. After Complete, Switched or Failed, further calls return the same
  /// event and consume nothing.
  Step read(std::string_view input);

  /// Signals an orderly end of input: over TLS, only close_notify ends a response without a length.
  /// Such a response is then Complete.
  ///
  /// Ends with: Closed if the final head is incomplete; TruncatedBody; or the earlier error, if
  ///            there was one.
  Result<void> end_of_input();

  /// The head that Interim or Head reported. It is a copy, independent of the input.
  ///
  /// Lifetime:  an interim head until the next read(), the final head until start().
  [[nodiscard]] const http::Head& head() const noexcept SKUA_LIFETIMEBOUND { return head_; }
  /// The framing from its fields; valid as long as head().
  [[nodiscard]] const Framing& framing() const noexcept SKUA_LIFETIMEBOUND { return framing_; }
  /// The trailer fields that are allowed in trailers, after Complete; valid until start().
  [[nodiscard]] const http::Head& trailers() const noexcept SKUA_LIFETIMEBOUND {
    return decoder_.trailers();
  }
  /// The reason that read() returned Failed.
  [[nodiscard]] Error error() const noexcept { return error_; }

  /// Reports whether the server has sent any byte in response. If it closes before that, an
  /// idempotent request can be retried.
  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  /// Reports whether the connection may carry another request: after Complete, provided that no
  /// unsolicited input is left.
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
  std::string head_text_;  // of the current or last head
  http::Head head_;
  Framing framing_;
  ResponseTo request_;
  Error error_{Errc::None};
  State state_ = State::Head;
  bool has_begun_ = false;
  bool is_interim_told_ = false;  // head_text_ is no longer needed
  bool keeps_alive_ = true;       // according to the heads so far
  std::uint16_t interim_count_ = 0;
  std::size_t interim_bytes_ = 0;
};

}  // namespace skua::h1
