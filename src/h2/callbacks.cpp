// SPDX-License-Identifier: MIT
// From C to members, one line each. Nothing may be thrown through nghttp2: whatever is ends the
// session.
#if defined(SKUA_HAS_HTTP2)

#include "h2/callbacks.hpp"

#include <memory>
#include <new>
#include <string_view>

#include "h2/engine.hpp"

namespace skua::h2 {
namespace {

struct FreeCallbacks {
  void operator()(nghttp2_session_callbacks* callbacks) const noexcept {
    nghttp2_session_callbacks_del(callbacks);
  }
};
using OwnedCallbacks = std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks>;

Engine& engine_of(void* user) noexcept { return *static_cast<Engine*>(user); }

std::string_view text(const std::uint8_t* bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(bytes), size};
}

std::uint32_t id_of(std::int32_t id) noexcept { return static_cast<std::uint32_t>(id); }

template <class Call>
auto guarded(Call call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
}

}  // namespace

const nghttp2_session_callbacks* Callbacks::all() {
  static const OwnedCallbacks made = [] {
    nghttp2_session_callbacks* raw = nullptr;
    if (nghttp2_session_callbacks_new(&raw) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_begin_headers_callback(
        raw, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          return guarded([&] { return engine_of(user).user_.on_begin_headers(*frame); });
        });
    nghttp2_session_callbacks_set_on_header_callback(
        raw, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                std::uint8_t, void* user) {
          return guarded([&] {
            return engine_of(user).user_.on_header(*frame, text(name, name_size),
                                                   text(value, value_size));
          });
        });
    // A field that nghttp2 would leave out makes the message malformed. RFC 9113 §8.2.1
    nghttp2_session_callbacks_set_on_invalid_header_callback(
        raw,
        [](nghttp2_session*, const nghttp2_frame*, const std::uint8_t*, std::size_t,
           const std::uint8_t*, std::size_t, std::uint8_t,
           void*) -> int { return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        raw, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          return guarded([&] { return engine_of(user).user_.on_frame(*frame); });
        });
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(
        raw, [](nghttp2_session*, const nghttp2_frame* frame, int error, void* user) {
          return guarded([&] { return engine_of(user).user_.on_invalid_frame(*frame, error); });
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        raw, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                std::size_t size, void* user) {
          return guarded(
              [&] { return engine_of(user).user_.on_data(id_of(id), text(data, size)); });
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        raw, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
          return guarded([&] {
            return engine_of(user).user_.on_close(id_of(id), static_cast<ErrorCode>(code));
          });
        });
    nghttp2_session_callbacks_set_on_frame_send_callback(
        raw, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          return guarded([&] { return engine_of(user).on_sent(*frame); });
        });
    nghttp2_session_callbacks_set_on_frame_not_send_callback(
        raw, [](nghttp2_session*, const nghttp2_frame* frame, int error, void* user) {
          return guarded([&] { return engine_of(user).user_.on_not_sent(*frame, error); });
        });
    nghttp2_session_callbacks_set_send_data_callback(
        raw, [](nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* head, std::size_t size,
                nghttp2_data_source*, void* user) {
          return guarded([&] {
            return engine_of(user).send_data(*frame, text(head, frame_header_bytes), size);
          });
        });
    return OwnedCallbacks(raw);
  }();
  return made.get();
}

nghttp2_data_provider Callbacks::provider() noexcept {
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t*, std::size_t size,
                              std::uint32_t* flags, nghttp2_data_source*, void* user) -> ssize_t {
    return guarded(
        [&]() -> ssize_t { return engine_of(user).user_.read_body(id_of(id), size, *flags); });
  };
  return provider;
}

}  // namespace skua::h2

#endif
