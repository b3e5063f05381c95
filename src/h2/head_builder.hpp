// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "h2/hpack_rules.hpp"
#include "h2/priority.hpp"
#include "http/message/field.hpp"
#include "http/uri/authority.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::h2 {

/// Limits on a head; the numbers are status codes.
struct HeadLimits {
  std::size_t target_bytes = 8 * 1024;       ///< of `:path` or `:authority` of a request: 414
  std::size_t field_line_bytes = 16 * 1024;  ///< of one field, name and value: 431
  std::size_t list_bytes = 64 * 1024;        ///< names and values, plus field_charge for each: 431
  std::uint16_t fields = 128;                ///< including cookie crumbs: 431
};

/// The overhead charged per field, so that many short fields are not cheap. RFC 9113 §6.5.2 counts
/// less, but each field also takes up a FieldLine.
inline constexpr std::size_t field_charge = 64;

/// A request head and the meaning of its pseudo-header fields: the counterpart of h1::Framing.
///
/// Lifetime:  the views point into the head's bytes.
struct RequestHead {
  http::Head head;                              ///< `:authority` becomes `host`, cookies are joined
  std::string_view host{};                      ///< `uri-host[:port]`
  std::string_view path_and_query{};            ///< begins with '/'; "*"; "" for a plain CONNECT
  std::string_view protocol{};                  ///< `:protocol` of an extended CONNECT. RFC 8441 §4
  std::optional<std::uint64_t> length_bytes{};  ///< Content-Length
  Priority priority{};                          ///< the `priority` field
  bool is_https = false;                        ///< `:scheme`
  bool expect_continue = false;                 ///< the peer waits for 100 (Continue)
  /// If set, the request is answered with status_for(error) instead of being served, and `head`
  /// may be incomplete.
  Errc error = Errc::None;
};

/// The verdict on a head; only a Fine one can be answered.
enum class HeadStatus : std::uint8_t {
  Fine,       ///< valid, or to be answered with an error
  Malformed,  ///< RFC 9113 §8.1.1: a stream error of type PROTOCOL_ERROR
  TooLong,    ///< a header section many times over the limit, or a trailer section over it
};

/// Returns the Content-Length, if the head has a valid one.
std::optional<std::uint64_t> content_length(const http::Head& head) noexcept;

/// Collects the fields of a header or trailer section in one buffer, in the form of a parsed head.
///
/// It works on decoded fields, not on frames. The decoder has already checked each field by itself
/// (RFC 9113 §8.2.1, §8.2.2, §8.3). The builder checks the rest: rules across fields, rules that
/// HTTP/1 has too, and the limits.
///
/// RFC:       9113 §8.2, §8.3; 8441 §4
class HeadBuilder final {
 public:
  enum class Kind : std::uint8_t { Request, Response, Trailers };

  /// Prepares for another section.
  void start(Kind kind, const HeadLimits& limits) noexcept;
  /// Adds the next field. Once a limit is exceeded, nothing more is kept.
  HeadStatus add(const DecodedField& field);
  /// Completes a request. `hosts` is used only during the call.
  HeadStatus finish_request(RequestHead& request, http::LastAuthority& hosts);
  /// Completes a response. If a limit was exceeded, error() is set and fields are missing.
  HeadStatus finish_response(http::Head& response) noexcept;
  /// Completes trailers, dropping those that are not allowed (http::is_allowed_in_trailers).
  SKUA_COLD HeadStatus finish_trailers(http::Head& trailers) noexcept;
  /// Frees large buffers.
  void shrink() noexcept;
  /// Frees all buffers. The views of the head become invalid.
  SKUA_COLD void forget() noexcept;
  /// The size of the section so far, as HeadLimits::list_bytes counts it.
  [[nodiscard]] std::size_t list_bytes() const noexcept { return list_bytes_; }
  /// The first error, such as an exceeded limit.
  [[nodiscard]] Errc error() const noexcept { return error_; }
  /// Heap memory in use.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return bytes_.capacity() + lines_.capacity() * sizeof(http::FieldLine);
  }

 private:
  struct Text {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
    bool is_there = false;
  };

  /// The value of `:scheme`.
  enum class Scheme : std::uint8_t { None, Http, Https, Other };

  HeadStatus add_pseudo(const DecodedField& field, bool has_room);
  [[nodiscard]] HeadStatus look_at(const DecodedField& field) noexcept;
  void take_method(std::string_view value);
  SKUA_COLD void join_method();
  [[nodiscard]] bool agrees_with_authority(std::string_view host) const noexcept;
  [[nodiscard]] bool take_room(const DecodedField& field) noexcept;
  void keep(std::string_view name, std::string_view value, http::FieldName known);
  Text keep_text(std::string_view text);
  [[nodiscard]] std::string_view view(const Text& text) const noexcept {
    return {bytes_.data() + text.begin, text.size};
  }
  SKUA_COLD void join_cookies();
  [[nodiscard]] bool has_pseudo(Pseudo which) const noexcept {
    return (pseudos_ >> static_cast<unsigned>(which) & 1U) != 0;
  }
  [[nodiscard]] bool has_what_a_request_needs() const noexcept;
  HeadStatus decide_target(RequestHead& request) noexcept;
  void decide_host(RequestHead& request, http::LastAuthority& hosts) noexcept;
  [[nodiscard]] http::Head head() const noexcept;
  void fail(Errc error) noexcept {
    if (error_ == Errc::None) error_ = error;
  }

  std::string bytes_;
  std::vector<http::FieldLine> lines_;
  HeadLimits limits_;
  std::uint64_t known_ = 0;  // fields that were kept
  std::uint64_t seen_ = 0;   // fields that arrived
  std::size_t list_bytes_ = 0;
  std::size_t field_count_ = 0;
  Text path_;
  Text method_name_;  // if the method is Other
  Text authority_;
  Text protocol_;
  std::optional<std::uint64_t> length_bytes_;
  Errc error_ = Errc::None;
  std::uint16_t status_ = 0;
  Method method_ = Method::Get;
  Scheme scheme_ = Scheme::None;
  Priority priority_{};
  bool expects_continue_ = false;
  Kind kind_ = Kind::Request;
  std::uint8_t pseudos_ = 0;  // bit n: Pseudo(n) arrived
  bool has_regular_ = false;  // a regular field arrived
};

}  // namespace skua::h2
