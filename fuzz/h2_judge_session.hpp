// SPDX-License-Identifier: MIT
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "by_stream.hpp"

/// nghttp2's side of a connection.
namespace judge {

using Fields = std::vector<std::pair<std::string, std::string>>;

inline void check(bool holds) {
  if (!holds) std::abort();
}

/// The events of a stream that an application sees.
struct Told {
  std::string heads{};
  std::uint64_t bytes = 0;  ///< size of the content
  std::uint64_t hash = 0;   ///< hash of the content
  bool is_ended = false;
  std::optional<std::uint32_t> closed_with{};  ///< for a client: any_failure
  std::optional<std::uint32_t> reset_with{};   ///< the code of a sent RST_STREAM

  void add(std::string_view content) noexcept {
    bytes += content.size();
    for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  bool operator==(const Told&) const = default;
};

inline constexpr std::uint32_t any_failure = 0xffff'ffff;

/// Reports whether both have the same events for every stream.
inline bool are_same(ByStream<Told>& a, ByStream<Told>& b) {
  for (const auto& [id, told] : a) {
    const Told* const other = b.find(id);
    if (other != nullptr ? told != *other : told != Told()) return false;
  }
  for (const auto& [id, told] : b) {
    if (a.find(id) == nullptr && told != Told()) return false;
  }
  return true;
}

/// Formats a field section as text.
using Write = std::string (*)(const Fields&);

/// One side of a connection as nghttp2 plays it: records incoming events, and drops the output.
class Session final {
 public:
  Session(bool is_server, const std::vector<nghttp2_settings_entry>& settings, Write write)
      : write_(write), is_server_(is_server) {
    nghttp2_session_callbacks* callbacks = nullptr;
    check(nghttp2_session_callbacks_new(&callbacks) == 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_received);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data_received);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closed);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frame_sent);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, invalid_frame);
    const auto make = is_server ? nghttp2_session_server_new : nghttp2_session_client_new;
    check(make(&raw_, callbacks, this) == 0);
    nghttp2_session_callbacks_del(callbacks);
    check(nghttp2_submit_settings(raw_, 0, settings.data(), settings.size()) == 0);
    flush();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { nghttp2_session_del(raw_); }

  void receive(std::string_view bytes) {
    if (failure) return;
    const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const auto taken = nghttp2_session_mem_recv(raw_, data, bytes.size());
    // nghttp2's only sign of an invalid preface.
    if (taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC) {
      failure = NGHTTP2_PROTOCOL_ERROR;
      return;
    }
    check(taken == static_cast<ssize_t>(bytes.size()));
  }
  void flush() {
    const std::uint8_t* data = nullptr;
    while (nghttp2_session_mem_send(raw_, &data) > 0) {
    }
  }
  [[nodiscard]] bool is_over() const {
    return nghttp2_session_want_read(raw_) == 0 && nghttp2_session_want_write(raw_) == 0;
  }
  void reset(std::uint32_t id, std::uint32_t code) {
    check(nghttp2_submit_rst_stream(raw_, 0, static_cast<std::int32_t>(id), code) == 0);
    flush();
  }
  /// Responds with this many bytes of content; has no effect if the stream is over.
  void respond(std::uint32_t id, std::size_t content_bytes) {
    left_[id] = content_bytes;
    nghttp2_data_provider provider{{.ptr = nullptr}, read_content};
    const nghttp2_nv status = field(":status", "200");
    const int result = nghttp2_submit_response(raw_, static_cast<std::int32_t>(id), &status, 1,
                                               content_bytes != 0 ? &provider : nullptr);
    check(result == 0);
  }
  /// Starts a request on this stream. Without `content_bytes`, its content never comes.
  void request(std::uint32_t id, const Fields& fields, std::optional<std::size_t> content_bytes) {
    check(nghttp2_session_set_next_stream_id(raw_, static_cast<std::int32_t>(id)) == 0);
    if (content_bytes) left_[id] = *content_bytes;
    nghttp2_data_provider provider{{.ptr = nullptr}, content_bytes ? read_content : read_nothing};
    std::vector<nghttp2_nv> raw_fields;
    raw_fields.reserve(fields.size());
    for (const auto& [name, value] : fields) raw_fields.push_back(field(name, value));
    const bool has_content = !content_bytes || *content_bytes != 0;
    check(nghttp2_submit_request(raw_, nullptr, raw_fields.data(), raw_fields.size(),
                                 has_content ? &provider : nullptr,
                                 nullptr) == static_cast<std::int32_t>(id));
    flush();
  }

  ByStream<Told> told;                   ///< since last cleared
  std::optional<std::uint32_t> failure;  ///< a connection error
  bool has_complained = false;           ///< nghttp2 found a frame invalid

 private:
  static nghttp2_nv field(std::string_view name, std::string_view value) {
    // nghttp2 only reads them.
    const auto raw = [](std::string_view text) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    };
    return {raw(name), raw(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }
  static Session& self(void* user) { return *static_cast<Session*>(user); }
  static std::uint32_t id_of(const nghttp2_frame* frame) {
    return static_cast<std::uint32_t>(frame->hd.stream_id);
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame*, void* user) {
    self(user).fields_.clear();
    return 0;
  }
  static int header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
                    std::size_t name_bytes, const std::uint8_t* value, std::size_t value_bytes,
                    std::uint8_t, void* user) {
    self(user).fields_.emplace_back(std::string(reinterpret_cast<const char*>(name), name_bytes),
                                    std::string(reinterpret_cast<const char*>(value), value_bytes));
    return 0;
  }
  // RFC 9113 §8.2.1: such a message is malformed. By default nghttp2 only drops the field.
  static int invalid_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t*,
                            std::size_t, const std::uint8_t*, std::size_t, std::uint8_t, void*) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Session& me = self(user);
    const std::uint32_t id = id_of(frame);
    if (frame->hd.type == NGHTTP2_HEADERS) {
      me.told[id].heads += me.write_(me.fields_);
      me.known_[id] |= known;
    } else if (frame->hd.type != NGHTTP2_DATA) {
      return 0;
    }
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      me.told[id].is_ended = true;
      me.known_[id] |= ended;
    }
    return 0;
  }
  static int data_received(nghttp2_session*, std::uint8_t, std::int32_t id,
                           const std::uint8_t* data, std::size_t size, void* user) {
    self(user).told[static_cast<std::uint32_t>(id)].add(
        {reinterpret_cast<const char*>(data), size});
    return 0;
  }
  // A server learns how every request it has seen ended, a client learns only of failures.
  static int closed(nghttp2_session*, std::int32_t raw_id, std::uint32_t code, void* user) {
    Session& me = self(user);
    const auto id = static_cast<std::uint32_t>(raw_id);
    const unsigned state = me.known_[id];
    if (me.is_server_ && (state & known) != 0) me.told[id].closed_with = code;
    if (!me.is_server_ && (state & ended) == 0) me.told[id].closed_with = any_failure;
    return 0;
  }
  static int frame_sent(nghttp2_session* raw, const nghttp2_frame* frame, void* user) {
    Session& me = self(user);
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) {
      me.failure = frame->goaway.error_code;
    }
    const bool is_open = nghttp2_session_get_stream_remote_close(raw, frame->hd.stream_id) != -1;
    if (frame->hd.type == NGHTTP2_RST_STREAM && is_open) {
      me.told[id_of(frame)].reset_with = frame->rst_stream.error_code;
    }
    return 0;
  }
  static int invalid_frame(nghttp2_session*, const nghttp2_frame*, int, void* user) {
    self(user).has_complained = true;
    return 0;
  }
  static ssize_t read_content(nghttp2_session*, std::int32_t id, std::uint8_t* out,
                              std::size_t most, std::uint32_t* flags, nghttp2_data_source*,
                              void* user) {
    std::size_t& left = self(user).left_[static_cast<std::uint32_t>(id)];
    const std::size_t bytes = left < most ? left : most;
    for (std::size_t i = 0; i < bytes; ++i) out[i] = 'c';
    left -= bytes;
    if (left == 0) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(bytes);
  }
  static ssize_t read_nothing(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t,
                              std::uint32_t*, nghttp2_data_source*, void*) {
    return NGHTTP2_ERR_DEFERRED;
  }

  static constexpr unsigned known = 1;
  static constexpr unsigned ended = 2;

  nghttp2_session* raw_ = nullptr;
  Write write_;
  bool is_server_;
  Fields fields_;
  ByStream<unsigned> known_;
  ByStream<std::size_t> left_;
};

/// nghttp2's HPACK decoder, for the header blocks that both sides receive.
class Blocks final {
 public:
  Blocks() { check(nghttp2_hd_inflate_new(&raw_) == 0); }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() { nghttp2_hd_inflate_del(raw_); }

  /// Decodes a piece of a block, or its last one. Returns false if it cannot be decoded.
  bool take(std::string_view piece, bool is_last) {
    if (is_first_) fields.clear();
    is_first_ = is_last;
    while (true) {
      nghttp2_nv field{};
      int flags = 0;
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(piece.data());
      const auto taken =
          nghttp2_hd_inflate_hd2(raw_, &field, &flags, bytes, piece.size(), is_last ? 1 : 0);
      if (taken < 0) return false;
      piece.remove_prefix(static_cast<std::size_t>(taken));
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
        fields.emplace_back(std::string(reinterpret_cast<char*>(field.name), field.namelen),
                            std::string(reinterpret_cast<char*>(field.value), field.valuelen));
      } else if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
        nghttp2_hd_inflate_end_headers(raw_);
        return true;
      } else if (piece.empty()) {
        return true;
      }
    }
  }

  Fields fields;  ///< of the current block

 private:
  nghttp2_hd_inflater* raw_ = nullptr;
  bool is_first_ = true;
};

}  // namespace judge
