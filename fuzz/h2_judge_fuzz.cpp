// SPDX-License-Identifier: MIT
// In: a role, a seed for splits, then the peer's bytes and the application's actions: see
// h2_judge_input.hpp. Checked, frame by frame: our connection and nghttp2's in the same role report
// the same events for each stream, reset the same streams and fail with the same error; nghttp2 in
// the peer's role accepts our output, and reads from it what was sent. Wherever they may differ, a
// comment names the RFC section; the input ends there, or both are brought back to the same state.
#include <cstddef>
#include <cstdint>
#include <string_view>

#if !defined(SKUA_HAS_JUDGE)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }

#else

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "by_stream.hpp"
#include "h2/connection.hpp"
#include "h2/frame.hpp"
#include "h2/hpack_rules.hpp"
#include "h2_judge_app.hpp"
#include "h2_judge_input.hpp"
#include "h2_judge_rules.hpp"
#include "h2_judge_session.hpp"
#include "h2_judge_wire.hpp"

namespace judge {
namespace {

using skua::h2::client_preface;
using skua::h2::Role;

class Duel final {
 public:
  Duel(Role role, std::uint32_t seed)
      : is_server_(role == Role::Server),
        seed_(seed),
        app_(role),
        judge_(is_server_,
               {is_server_ ? nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1}
                           : nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}},
               is_server_ ? write_request : write_response),
        wire_(is_server_, app_, known_) {
    if (!is_server_) {
      app_.begin(judge_);
      app_.flush();
      for (const auto& [id, told] : app_.sent) {
        known_[id].is_begun = true;
        highest_id_ = std::max(highest_id_, id);
      }
      wire_.take({});
    }
  }

  /// Feeds the first bytes of a client.
  bool greet(std::string_view preface) {
    judge_.receive(preface);
    receive(preface);
    return finish_step({});
  }
  bool play(std::string_view bytes) {
    bytes_.append(bytes);
    std::string_view rest = bytes_;
    while (const std::optional<Frame> frame = take_frame(rest)) {
      if (!step(*frame)) return false;
    }
    bytes_.erase(0, bytes_.size() - rest.size());
    return true;
  }
  bool reset(std::uint32_t id) {
    if (block_id_ != 0) return true;  // see finish_step
    app_.reset(id, ErrorCode::Cancel);
    return finish_step({});
  }

 private:
  bool step(const Frame& frame);
  bool finish_step(const Frame& frame);
  void receive(std::string_view bytes);
  void show_judge(const Frame& frame);
  void show_settings(const Frame& frame);
  void note_block(const Frame& frame);
  void note_window(const Frame& frame);
  void note_connect(const Frame& frame);
  void note_after(const Frame& frame);

  bool settle_failures(const Frame& frame);
  [[nodiscard]] std::vector<ErrorCode> faults(const Frame& frame);
  [[nodiscard]] bool may_fail_alone(const Frame& frame, ErrorCode code);
  [[nodiscard]] bool makes_window_too_large(const Frame& frame);
  [[nodiscard]] bool may_judge_fail_alone(const Frame& frame, ErrorCode code);
  void settle_streams(const Frame& frame);
  [[nodiscard]] bool may_reset_alone(const Frame& frame, std::uint32_t with);
  [[nodiscard]] bool may_judge_reset_alone(const Frame& frame, std::uint32_t with);
  void forget(std::uint32_t id) {
    app_.told.erase(id);
    judge_.told.erase(id);
  }

  [[nodiscard]] Connection& ours() noexcept { return app_.connection(); }
  [[nodiscard]] bool is_idle(std::uint32_t id) const noexcept {
    return id % 2 == 0 || id > highest_id_;
  }
  [[nodiscard]] bool is_out_of_place(const Frame& frame) const noexcept {
    const bool goes_on =
        frame.head.type == FrameType::Continuation && frame.head.stream_id == block_id_;
    const bool is_settings = frame.head.type == FrameType::Settings && !frame.head.has(flag::ack);
    return (block_id_ != 0) != goes_on || (!has_settings_ && !is_settings);
  }
  [[nodiscard]] bool is_sound(const Frame& frame) const noexcept {
    return !is_out_of_place(frame) && !has_wrong_size(frame.head) &&
           !is_on_wrong_stream(frame.head);
  }

  const bool is_server_;
  std::uint32_t seed_;
  App app_;
  Session judge_;
  Blocks blocks_;
  std::string bytes_;  // an incomplete frame

  ByStream<Known> known_;
  Wire wire_;
  std::uint32_t highest_id_ = 0;
  bool has_settings_ = false;
  bool is_acknowledged_ = false;
  std::size_t settings_count_ = 0;
  std::uint32_t goaway_id_ = 0x7fff'ffff;

  // The current or last header block.
  std::uint32_t block_id_ = 0;
  bool is_block_self_dependent_ = false;
  bool is_block_broken_ = false;
  std::optional<Fields> fields_;  // set if the frame ended the block

  // The state before the frame; for a header block, before its first frame.
  Known before_;
  bool was_idle_ = false;
  bool is_full_ = false;
  bool was_sound_ = false;
  bool was_out_of_place_ = false;
  bool is_window_passed_ = false;
  bool is_connect_offered_ = false;
  bool is_connect_taken_back_ = false;  // by this frame
};

// Input -------------------------------------------------------------------------------------------

bool Duel::step(const Frame& frame) {
  const std::uint32_t id = frame.head.stream_id;
  was_sound_ = is_sound(frame);
  was_out_of_place_ = is_out_of_place(frame);
  is_window_passed_ = is_connect_taken_back_ = false;
  if (!was_sound_ || frame.head.type != FrameType::Continuation) {
    before_ = known_[id];
    was_idle_ = is_idle(id);
    is_full_ = is_server_ && ours().stream_count() >= options(Role::Server).streams;
  }
  if (was_sound_) {
    note_block(frame);
    note_window(frame);
    note_connect(frame);
  } else {
    fields_.reset();
  }
  show_judge(frame);
  receive(frame.bytes);
  return finish_step(frame);
}

bool Duel::finish_step(const Frame& frame) {
  app_.flush();
  wire_.take(frame);
  judge_.flush();
  if (!settle_failures(frame)) return false;
  for (const Deed& deed : app_.deeds) {
    if (deed.answered) {
      judge_.respond(deed.id, *deed.answered);
      judge_.flush();
    } else {
      judge_.reset(deed.id, code(deed.code));
    }
  }
  app_.deeds.clear();
  judge_.flush();
  // A malformed first frame of a head may be detected only at its last frame.
  if (block_id_ != 0) {
    note_after(frame);
    return judge_.failure || !judge_.is_over();
  }
  settle_streams(frame);
  check(are_same(app_.told, judge_.told));
  app_.told.clear();
  judge_.told.clear();
  note_after(frame);
  return !ours().is_over() && !judge_.is_over();
}

/// Passes the bytes to our side in pieces.
void Duel::receive(std::string_view bytes) {
  while (!bytes.empty()) {
    seed_ = seed_ * 1664525U + 1013904223U;
    const std::size_t size = (seed_ & 0x3'0000U) != 0 ? bytes.size() : 1 + (seed_ >> 26U);
    // Exactly sized, so that a sanitizer sees a read past the end.
    const std::vector<char> piece(bytes.begin(), bytes.begin() + std::min(size, bytes.size()));
    ours().receive({piece.data(), piece.size()}, {});
    bytes.remove_prefix(piece.size());
  }
}

/// Passes nghttp2 the frame, or an equivalent.
void Duel::show_judge(const Frame& frame) {
  if (!was_sound_) return judge_.receive(frame.bytes);
  switch (frame.head.type) {
    case FrameType::Settings: return show_settings(frame);
    case FrameType::Goaway: {
      // RFC 9113 §6.8 says what may be sent, not what must be refused. nghttp2 refuses an id that
      // is not one of ours, and one that is higher than in an earlier GOAWAY.
      const std::uint32_t id = frame.number_at(0) & 0x7fff'ffffU;
      goaway_id_ = std::min(goaway_id_, id);
      std::uint32_t shown = goaway_id_;
      if ((shown % 2 == 0) != is_server_ && shown != 0) --shown;
      std::string bytes(frame.bytes);
      skua::h2::write_number(bytes.data() + skua::h2::frame_header_bytes, shown);
      return judge_.receive(bytes);
    }
    case FrameType::PushPromise:     // see settle_failures
    case FrameType::PriorityUpdate:  // likewise
      return;
    default: return judge_.receive(frame.bytes);
  }
}

/// RFC 9113 §6.5.3: values are processed in order of appearance. nghttp2 reads only the last of
/// each kind, and refuses more than 32, so it gets one at a time.
void Duel::show_settings(const Frame& frame) {
  if (frame.head.has(flag::ack)) {
    // RFC 9113 §6.5.3 does not cover an ACK for SETTINGS that were never sent. nghttp2 refuses it.
    if (!is_acknowledged_) judge_.receive(frame.bytes);
    return;
  }
  std::string head("\0\0\0\4\0\0\0\0\0", skua::h2::frame_header_bytes);
  judge_.receive(head);
  head[2] = skua::h2::setting_bytes;
  for (std::size_t at = 0; at < frame.payload.size(); at += skua::h2::setting_bytes) {
    const auto setting = static_cast<Setting>(frame.number_at(at) >> 16U);
    const std::uint32_t value = frame.number_at(at + 2);
    // RFC 9218 §2.1: it must not change, but refusing a change is only a MAY. With this setting
    // nghttp2 would ignore PRIORITY frames.
    if (setting == Setting::NoRfc7540Priorities && value <= 1) continue;
    // RFC 8441 §3: it must not be reset to 0, but only a client is affected by that.
    if (setting == Setting::EnableConnectProtocol && value == 0) continue;
    judge_.receive(head + std::string(frame.payload.substr(at, skua::h2::setting_bytes)));
  }
}

/// Tracks whether the peer permits extended CONNECT; the frame must be sound.
void Duel::note_connect(const Frame& frame) {
  if (frame.head.type != FrameType::Settings) return;
  for (std::size_t at = 0; at < frame.payload.size(); at += skua::h2::setting_bytes) {
    const auto setting = static_cast<Setting>(frame.number_at(at) >> 16U);
    if (setting != Setting::EnableConnectProtocol) continue;
    const bool is_offered = frame.number_at(at + 2) != 0;
    if (is_connect_offered_ && !is_offered) is_connect_taken_back_ = true;
    is_connect_offered_ = is_offered;
  }
}

/// Tracks header blocks; the frame must be sound.
void Duel::note_block(const Frame& frame) {
  fields_.reset();
  const std::optional<std::string_view> content = frame.content();
  std::string_view fragment = frame.payload;
  if (frame.head.type == FrameType::Headers && content) {
    fragment = *content;
    is_block_self_dependent_ = frame.depends_on_itself();
  } else if (frame.head.type != FrameType::Continuation) {
    return;
  }
  const bool is_last = frame.head.has(flag::end_headers);
  block_id_ = is_last ? 0 : frame.head.stream_id;
  is_block_broken_ = !blocks_.take(fragment, is_last);
  if (is_last && !is_block_broken_) fields_ = blocks_.fields;
}

/// Tracks receive windows. RFC 9113 §6.9: the time of window updates is free, and nghttp2 chooses
/// another one.
void Duel::note_window(const Frame& frame) {
  if (frame.head.type != FrameType::Data || !before_.is_begun || before_.has_peer_ended ||
      before_.is_reset) {
    return;
  }
  Known& known = known_[frame.head.stream_id];
  known.received_bytes += frame.head.length_bytes;
  const std::int64_t window =
      is_acknowledged_ ? options(Role::Server).stream_window_bytes : skua::h2::first_window_bytes;
  // RFC 9113 §6.9.1: an empty frame fits into any window.
  is_window_passed_ = known.received_bytes > window && frame.head.length_bytes != 0;
}

/// Updates the state after a frame that both accepted.
void Duel::note_after(const Frame& frame) {
  const std::uint32_t id = frame.head.stream_id;
  if (frame.bytes.empty()) return;
  if (frame.head.type == FrameType::Settings) {
    has_settings_ = true;
    if (frame.head.has(flag::ack)) {
      is_acknowledged_ = true;
    } else {
      ++settings_count_;
    }
  }
  check(wire_.acknowledged_count == settings_count_);
  if (frame.head.type == FrameType::Headers && is_server_ && was_idle_) highest_id_ = id;
  // RFC 9113 §6.8: a server does not process these.
  for (auto& [its, known] : known_) {
    if (!is_server_ && its > goaway_id_) known.has_peer_ended = known.is_reset = true;
  }
  Known& known = known_[id];
  if (frame.head.type == FrameType::RstStream || frame.ends_stream()) known.has_peer_ended = true;
  if (frame.head.type == FrameType::RstStream) known.is_reset = true;
  if (frame.head.type == FrameType::WindowUpdate) {
    known.room_bytes += frame.number_at(0) & 0x7fff'ffffU;
  }
  if (frame.head.type == FrameType::RstStream) wire_.end_in_peer(id);
  if (fields_ && is_connect(*fields_) && find(*fields_, "content-length") != nullptr) {
    known.is_connect_with_length = true;
  }
  const std::string* const status = fields_ ? find(*fields_, ":status") : nullptr;
  if (status == nullptr) return;
  known.is_answered = true;
  known.has_response = known.has_response || (*status)[0] != '1';
}

// The end of the connection -----------------------------------------------------------------------

/// Compares connection errors; returns false if the connection has ended.
bool Duel::settle_failures(const Frame& frame) {
  const skua::h2::Failure* const failure = ours().failure();
  check((failure != nullptr) == wire_.failure.has_value());
  std::optional<ErrorCode> mine;
  if (failure != nullptr) mine = failure->code;
  check(mine == wire_.failure);
  std::optional<ErrorCode> its;
  if (judge_.failure) its = static_cast<ErrorCode>(*judge_.failure);

  // RFC 9113 §4.3: an undecodable block ends the connection, but not at a set time: nghttp2 already
  // reads the first octets of a field whose rest is in the next frame.
  const bool is_early = its == ErrorCode::CompressionError && block_id_ != 0;
  if (is_early && (!mine || !was_sound_)) return !mine;

  if (was_sound_ && frame.head.type == FrameType::PushPromise) {
    // RFC 9113 §8.4. Before our SETTINGS are acknowledged, nghttp2 would accept it.
    check(mine == ErrorCode::ProtocolError);
  } else if (was_sound_ && frame.head.type == FrameType::PriorityUpdate) {
    // RFC 9218 §7.1, which nghttp2 supports only if RFC 7540 priorities are off.
    const bool is_wrong = !is_server_ || (frame.number_at(0) & 0x7fff'ffffU) == 0;
    check(mine == (is_wrong ? std::optional(ErrorCode::ProtocolError) : std::nullopt));
  } else if (mine && its) {
    // RFC 9113 does not rank several errors in one frame.
    const std::vector<ErrorCode> found = faults(frame);
    const auto is_found = [&](ErrorCode code) { return std::ranges::count(found, code) != 0; };
    // In SETTINGS, an error that nghttp2 tolerates may precede one that it does not.
    const bool is_first = frame.head.type == FrameType::Settings && may_fail_alone(frame, *mine);
    check(mine == its || is_first || (is_found(*mine) && is_found(*its)));
  } else if (mine) {
    check(may_fail_alone(frame, *mine));
  } else if (its) {
    check(may_judge_fail_alone(frame, *its));
  }
  check(mine || !makes_window_too_large(frame));
  check(mine || !is_connect_taken_back_);
  return !mine && !its;
}

/// Returns the connection errors that apply to the frame.
std::vector<ErrorCode> Duel::faults(const Frame& frame) {
  std::vector<ErrorCode> found;
  const FrameType type = frame.head.type;
  const bool begins = type == FrameType::Data || type == FrameType::Headers;
  const bool is_of_stream =
      begins || type == FrameType::RstStream || type == FrameType::WindowUpdate;
  if (has_wrong_size(frame.head)) found.push_back(ErrorCode::FrameSizeError);
  if (was_out_of_place_ || is_on_wrong_stream(frame.head) || frame.depends_on_itself() ||
      (is_of_stream && was_idle_)) {
    found.push_back(ErrorCode::ProtocolError);
  }
  // RFC 9113 §4.2, §6.1: too short for its required content, and too much padding.
  if (!frame.content()) {
    found.push_back(ErrorCode::ProtocolError);
    found.push_back(ErrorCode::FrameSizeError);
  }
  if (begins && !was_idle_ && (before_.has_peer_ended || !before_.is_begun)) {
    found.push_back(ErrorCode::StreamClosed);
    if (!before_.is_begun) found.push_back(ErrorCode::ProtocolError);
  }
  if (is_block_broken_) found.push_back(ErrorCode::CompressionError);
  // RFC 9113 §10.5: nghttp2's limit on settings per frame.
  constexpr std::size_t max_settings = 32;
  if (type == FrameType::Settings &&
      frame.head.length_bytes > max_settings * skua::h2::setting_bytes) {
    found.push_back(ErrorCode::EnhanceYourCalm);
  }
  return found;
}

/// Reports whether we may fail the connection over a frame that nghttp2 accepts.
bool Duel::may_fail_alone(const Frame& frame, ErrorCode code) {
  const FrameType type = frame.head.type;
  const bool begins = type == FrameType::Data || type == FrameType::Headers;
  const bool is_over = !was_idle_ && (before_.has_peer_ended || !before_.is_begun);
  // RFC 9113 §6.1: a connection error. nghttp2 does not check the padding of content that it drops.
  const bool is_padding_wrong = type == FrameType::Data && !frame.content();
  if (is_padding_wrong && (before_.is_reset || is_over) &&
      (code == ErrorCode::ProtocolError || code == ErrorCode::FrameSizeError)) {
    return true;
  }
  // RFC 9113 §5.1: a frame on a stream that the peer knows to be closed MAY be a connection error;
  // nghttp2 remembers few such streams. §5.1.1: a skipped stream id is closed, too.
  if (was_sound_ && begins && is_over) {
    return code == ErrorCode::StreamClosed ||
           (code == ErrorCode::ProtocolError && !before_.is_begun);
  }
  // RFC 9113 §4.2: a connection error. nghttp2 does not check this.
  if (type == FrameType::Continuation && has_wrong_size(frame.head)) {
    return code == ErrorCode::FrameSizeError;
  }
  // RFC 9218 §7.1; see settle_failures.
  if (type == FrameType::PriorityUpdate && !was_sound_) {
    return code == ErrorCode::ProtocolError || code == ErrorCode::FrameSizeError;
  }
  // nghttp2 is not shown this; see show_settings.
  if (is_connect_taken_back_) return code == ErrorCode::ProtocolError;
  // RFC 9113 §6.9.2: a connection error. nghttp2 resets the stream.
  return code == ErrorCode::FlowControlError && makes_window_too_large(frame);
}

/// Reports whether SETTINGS push a stream's window over the maximum.
bool Duel::makes_window_too_large(const Frame& frame) {
  if (frame.head.type != FrameType::Settings || !was_sound_) return false;
  for (std::size_t at = 0; at < frame.payload.size(); at += skua::h2::setting_bytes) {
    const std::int64_t value = frame.number_at(at + 2);
    if (static_cast<Setting>(frame.number_at(at) >> 16U) != Setting::InitialWindowSize) continue;
    for (const auto& [id, known] : known_) {
      if (known.is_open() && value + known.room_bytes > skua::h2::max_window_bytes) return true;
    }
  }
  return false;
}

/// RFC 9113 §5.4.1: a stream error may be treated as a connection error.
bool Duel::may_judge_fail_alone(const Frame& frame, ErrorCode code) {
  const FrameType type = frame.head.type;
  // RFC 9113 §5.1: both sides have ended the stream; see may_fail_alone.
  if (code == ErrorCode::StreamClosed) return before_.is_reset && before_.has_peer_ended;
  if (code != ErrorCode::ProtocolError) return false;
  // RFC 7540 §5.3.1; our side may not have seen the whole head yet.
  if (type == FrameType::Headers && frame.depends_on_itself()) return true;
  const std::optional<std::uint32_t> mine = app_.told[frame.head.stream_id].reset_with;
  const bool is_past_window = is_window_passed_ && mine == judge::code(ErrorCode::FlowControlError);
  if (mine != judge::code(ErrorCode::ProtocolError) && !is_past_window) return false;
  // RFC 9113 §6.9: an increment of 0 is a stream error. §8.1: so is content without a head.
  return type == FrameType::WindowUpdate || (type == FrameType::Data && !before_.is_answered);
}

// The end of a stream -----------------------------------------------------------------------------

/// Brings both sides back to the same state if they were allowed to differ.
void Duel::settle_streams(const Frame& frame) {
  const std::uint32_t id = frame.head.stream_id;
  if (id == 0) return;
  const bool is_head =
      frame.head.type == FrameType::Headers || frame.head.type == FrameType::Continuation;
  const bool begins = is_server_ && was_idle_ && is_head;
  if (begins) known_[id].is_begun = true;
  const std::optional<std::uint32_t> mine = app_.told[id].reset_with;
  const std::optional<std::uint32_t> its = judge_.told[id].reset_with;

  // RFC 9113 §5.1.2: nghttp2 got no limit, as it treats an excess as a connection error.
  const bool is_refused = mine == code(ErrorCode::RefusedStream);
  check(is_refused == (begins && is_full_));
  const bool is_past_window = mine == code(ErrorCode::FlowControlError) && is_window_passed_;
  check(!is_window_passed_ || mine);
  if (is_refused || is_past_window) {
    judge_.reset(id, *mine);
    return forget(id);
  }
  if (mine && !its && may_reset_alone(frame, *mine)) {
    judge_.reset(id, *mine);
    return forget(id);
  }
  if (its && !mine && may_judge_reset_alone(frame, *its)) {
    app_.reset(id, static_cast<ErrorCode>(*its));
    app_.deeds.clear();
    app_.flush();
    wire_.take({});
    return forget(id);
  }
  // HTTP/2 allows the request, but we answer it with an error. Its fields may be truncated.
  Told& told = judge_.told[id];
  if (app_.told[id].heads == refused_text && !told.heads.empty()) told.heads = refused_text;
}

/// Reports whether we may reset a stream that nghttp2 does not, for an error it does not check.
bool Duel::may_reset_alone(const Frame& frame, std::uint32_t with) {
  if (with != code(ErrorCode::ProtocolError)) return false;
  const std::uint32_t id = frame.head.stream_id;
  if (frame.head.type == FrameType::Data) {
    // RFC 9113 §8.1: content, even if empty, between an interim response and the final one.
    return !is_server_ && before_.is_answered && !before_.has_response &&
           frame.content().value_or("x").empty();
  }
  if (!fields_) return false;
  // RFC 7540 §5.3.1, for a head that does not start a stream.
  if (is_block_self_dependent_) return true;
  const std::string* const status = find(*fields_, ":status");
  const std::string* const host = find(*fields_, "host");
  // RFC 9110 §7.2: Host has no meaning in a response; we refuse one that is not a valid host.
  const auto names_none = [](const auto& field) {
    return field.first == "host" && !skua::h2::rules::is_authority_text(field.second);
  };
  if (!is_server_ && std::ranges::any_of(*fields_, names_none)) return true;
  // RFC 9110 §15: a status is at least 100.
  if (status != nullptr) return (*status)[0] == '0';
  if (find(*fields_, ":method") == nullptr) {
    // RFC 9113 §8.5: a tunnel has no trailers.
    const skua::Method* const method = app_.methods.find(id);
    return method != nullptr && *method == skua::Method::Connect;
  }
  // RFC 9113 §8.3.1: a host that differs from :authority SHOULD be treated as malformed.
  const std::string* const authority = find(*fields_, ":authority");
  if (host != nullptr && authority != nullptr && *host != *authority) return true;
  // RFC 9113 §8.1.1: the length differs from that of the content; nghttp2 does not check this for
  // messages that have no content by definition.
  return is_connect(*fields_) && find(*fields_, "content-length") != nullptr;
}

/// Reports whether nghttp2 may reset a stream that we do not.
bool Duel::may_judge_reset_alone(const Frame& frame, std::uint32_t with) {
  if (with != code(ErrorCode::ProtocolError)) return false;
  // RFC 9113 §8.5, 8441 §5: the bytes that follow belong to a tunnel, so a length has no meaning.
  if (known_[frame.head.stream_id].is_connect_with_length) return true;
  if (!fields_) return false;
  const std::string* const length = find(*fields_, "content-length");
  if (const std::string* const status = find(*fields_, ":status")) {
    // RFC 9110 §8.6: a 204 has no length. Both allow zero, but nghttp2 only as a single digit.
    return *status == "204" && length != nullptr && *length != "0";
  }
  // RFC 9110 §6.5.1: we drop fields not allowed in trailers; nghttp2 reads them as in heads.
  if (find(*fields_, ":method") == nullptr) {
    return length != nullptr || (is_server_ && find(*fields_, "host") != nullptr);
  }
  // RFC 9113 §8.1.1: a request with a malformed length may be answered before it is reset.
  const bool is_refused = app_.told[frame.head.stream_id].heads == refused_text;
  if (is_refused && length != nullptr) return true;
  // RFC 8441 §4 does not require `:authority` if there is a `host`.
  return find(*fields_, ":protocol") != nullptr && find(*fields_, ":authority") == nullptr;
}

void run(Role role, std::uint32_t seed, std::string_view bytes) {
  Duel duel(role, seed);
  if (role == Role::Server) {
    std::string preface(client_preface);
    // Sometimes one bit is wrong.
    if (seed >> 8U == 0xffU) preface[seed % preface.size()] ^= 1;
    if (!duel.greet(preface)) return;
  }
  if ((seed & 1U) == 0 && !duel.play(std::string_view("\0\0\0\4\0\0\0\0\0", 9))) return;
  if ((seed & 2U) == 0 && !duel.play(std::string_view("\0\0\0\4\1\0\0\0\0", 9))) return;
  Input(bytes, role == Role::Server).run(duel);
}

}  // namespace
}  // namespace judge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3 || size > 4096) return 0;
  const judge::Role role = (data[0] & 1U) == 0 ? judge::Role::Server : judge::Role::Client;
  const std::uint32_t seed = data[1] | static_cast<std::uint32_t>(data[2]) << 8U;
  judge::run(role, seed, {reinterpret_cast<const char*>(data + 3), size - 3});
  return 0;
}

#endif
