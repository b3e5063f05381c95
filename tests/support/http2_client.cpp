// SPDX-License-Identifier: MIT
// Translates between HTTP/1 text and HTTP/2 frames, which nghttp2 reads and writes. Stream ids
// follow the order of the requests: 1, 3, 5.
#include "support/http2_client.hpp"

#include <stdexcept>

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "support/request_text.hpp"

namespace skua::testing {
namespace {

using Fields = RequestText::Fields;

struct Exchange {
  // The request's content.
  std::string content;
  std::size_t sent_bytes = 0;
  Fields trailers;
  bool is_content_whole = true;
  bool is_deferred = false;
  // The response.
  std::deque<Answer> interim;
  Answer answer;
  std::size_t unread_bytes = 0;  // content that was not returned to the server's window
  bool has_head = false;
  bool is_whole = false;
  bool is_closed = false;
  bool is_last = false;  // the request asked for Connection: close
  bool is_tunnel = false;
};

nghttp2_nv pair_of(const std::string& name, const std::string& value) {
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));  // nghttp2 copies it
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::vector<nghttp2_nv> pairs_of(const Fields& fields) {
  std::vector<nghttp2_nv> pairs;
  for (const auto& [name, value] : fields) pairs.push_back(pair_of(name, value));
  return pairs;
}

class Translator final : public Http2Client, private RequestText::Events {
 public:
  explicit Translator(bool is_secure);

  void say(std::string_view text) override { text_.append(text); }
  void receive(std::string_view bytes) override;
  std::string take_output() override;
  [[nodiscard]] bool is_all_sent() const override;
  [[nodiscard]] bool has_settings() const override { return has_settings_; }
  [[nodiscard]] bool has_news() const override;
  void read(Reading which) override;
  Next next() override;
  Answer take() override;
  [[nodiscard]] bool has_last() const override;
  std::string take_some() override;
  [[nodiscard]] bool has_ended() const override;
  std::string take_rest() override;

 private:
  struct Free {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };
  static const nghttp2_session_callbacks* callbacks();
  static Translator& of(void* user) { return *static_cast<Translator*>(user); }

  void on_request(RequestText::Head head) override;
  void on_content(std::string_view bytes) override;
  void on_end(Fields trailers) override;

  void on_header(std::int32_t id, std::string_view name, std::string_view value);
  void on_frame(const nghttp2_frame& frame);
  void on_data(std::int32_t id, std::size_t bytes, const char* data);
  ssize_t on_read(std::int32_t id, char* into, std::size_t most, std::uint32_t& flags);
  void go_on(std::int32_t id);
  void open_window(std::int32_t id);
  [[nodiscard]] const Exchange* front() const;

  const bool is_secure_;
  std::unique_ptr<nghttp2_session, Free> session_;
  RequestText text_{*this};
  std::map<std::int32_t, Exchange> exchanges_;
  std::int32_t newest_ = -1;  // the stream whose content is being sent
  std::int32_t next_ = 1;     // the stream whose response is next
  Reading reading_ = Reading::None;
  bool has_settings_ = false;
};

const nghttp2_session_callbacks* Translator::callbacks() {
  static const nghttp2_session_callbacks* const all = [] {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    nghttp2_session_callbacks_set_on_header_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                 std::size_t name_bytes, const std::uint8_t* value, std::size_t value_bytes,
                 std::uint8_t, void* user) {
          of(user).on_header(frame->hd.stream_id, {reinterpret_cast<const char*>(name), name_bytes},
                             {reinterpret_cast<const char*>(value), value_bytes});
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          of(user).on_frame(*frame);
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                 std::size_t bytes, void* user) {
          of(user).on_data(id, bytes, reinterpret_cast<const char*>(data));
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        made, [](nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
          of(user).exchanges_[id].is_closed = true;
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_not_send_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
          if (frame->hd.type == NGHTTP2_HEADERS) {
            of(user).exchanges_[frame->hd.stream_id].is_closed = true;
          }
          return 0;
        });
    return made;
  }();
  return all;
}

Translator::Translator(bool is_secure) : is_secure_(is_secure) {
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_session* made = nullptr;
  nghttp2_session_client_new2(&made, callbacks(), this, option);
  nghttp2_option_del(option);
  session_.reset(made);
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, nullptr, 0);
}

// Requests ----------------------------------------------------------------------------------------

void Translator::on_request(RequestText::Head head) {
  const bool is_tunnel = !head.protocol.empty();
  Fields fields{{":scheme", is_secure_ ? "https" : "http"}};
  fields.emplace_back(":method", is_tunnel ? "CONNECT" : head.method);
  if (is_tunnel) fields.emplace_back(":protocol", head.protocol);
  fields.emplace_back(":authority", head.host);
  fields.emplace_back(":path", head.target);
  fields.insert(fields.end(), head.fields.begin(), head.fields.end());
  if (head.method == "CONNECT") {
    std::erase_if(fields, [](const auto& field) {
      return field.first == ":scheme" || field.first == ":path";
    });
  }
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* into,
                              std::size_t most, std::uint32_t* flags, nghttp2_data_source*,
                              void* user) -> ssize_t {
    return of(user).on_read(id, reinterpret_cast<char*>(into), most, *flags);
  };
  const std::vector<nghttp2_nv> pairs = pairs_of(fields);
  newest_ = nghttp2_submit_request(session_.get(), nullptr, pairs.data(), pairs.size(),
                                   head.has_content || is_tunnel ? &provider : nullptr, nullptr);
  EXPECT_GT(newest_, 0);
  Exchange& exchange = exchanges_[newest_];
  exchange.is_content_whole = !head.has_content && !is_tunnel;
  exchange.is_tunnel = is_tunnel;
  exchange.is_last = head.wants_close;
}

void Translator::on_content(std::string_view bytes) {
  exchanges_[newest_].content.append(bytes);
  go_on(newest_);
}

void Translator::on_end(Fields trailers) {
  exchanges_[newest_].is_content_whole = true;
  exchanges_[newest_].trailers = std::move(trailers);
  go_on(newest_);
}

void Translator::go_on(std::int32_t id) {
  if (!std::exchange(exchanges_[id].is_deferred, false)) return;
  nghttp2_session_resume_data(session_.get(), id);
}

ssize_t Translator::on_read(std::int32_t id, char* into, std::size_t most, std::uint32_t& flags) {
  Exchange& exchange = exchanges_[id];
  const std::size_t count = std::min(most, exchange.content.size() - exchange.sent_bytes);
  std::memcpy(into, exchange.content.data() + exchange.sent_bytes, count);
  exchange.sent_bytes += count;
  const bool is_all = exchange.sent_bytes == exchange.content.size();
  if (is_all && exchange.is_content_whole) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!exchange.trailers.empty()) {
      const std::vector<nghttp2_nv> pairs = pairs_of(exchange.trailers);
      flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      nghttp2_submit_trailer(session_.get(), id, pairs.data(), pairs.size());
    }
  } else if (count == 0) {
    exchange.is_deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(count);
}

std::string Translator::take_output() {
  std::string output;
  while (true) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
    if (size <= 0) return output;
    output.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
}

bool Translator::is_all_sent() const {
  return std::ranges::all_of(exchanges_, [](const auto& entry) {
    const Exchange& exchange = entry.second;
    return exchange.is_closed || exchange.sent_bytes == exchange.content.size();
  });
}

// Responses ---------------------------------------------------------------------------------------

void Translator::receive(std::string_view bytes) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t taken = nghttp2_session_mem_recv(session_.get(), data, bytes.size());
  EXPECT_EQ(taken, static_cast<ssize_t>(bytes.size())) << nghttp2_strerror(static_cast<int>(taken));
}

void Translator::on_header(std::int32_t id, std::string_view name, std::string_view value) {
  Exchange& exchange = exchanges_[id];
  std::string& lines = exchange.has_head ? exchange.answer.trailers : exchange.answer.head;
  if (name == ":status") {
    std::from_chars(value.data(), value.data() + value.size(), exchange.answer.status);
    lines.append("HTTP/2.0 ").append(value).append(" \r\n");
  } else {
    lines.append(name).append(": ").append(value).append("\r\n");
  }
}

void Translator::on_frame(const nghttp2_frame& frame) {
  has_settings_ = has_settings_ || frame.hd.type == NGHTTP2_SETTINGS;
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  Exchange& exchange = exchanges_[frame.hd.stream_id];
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
    exchange.is_whole = true;
    if (exchange.is_tunnel) on_end({});
  }
  if (frame.hd.type != NGHTTP2_HEADERS || exchange.has_head) return;
  exchange.answer.head.append("\r\n");
  if (exchange.answer.status >= 200) {
    exchange.has_head = true;
  } else {
    exchange.interim.push_back(std::exchange(exchange.answer, {}));
  }
}

void Translator::on_data(std::int32_t id, std::size_t bytes, const char* data) {
  Exchange& exchange = exchanges_[id];
  exchange.answer.body.append(data, bytes);
  exchange.unread_bytes += bytes;
  nghttp2_session_consume_connection(session_.get(), bytes);
  const bool is_read = reading_ == Reading::All || (reading_ == Reading::Next && id == next_);
  if (is_read) open_window(id);
}

void Translator::open_window(std::int32_t id) {
  Exchange& exchange = exchanges_[id];
  if (exchange.is_closed || exchange.unread_bytes == 0) return;
  nghttp2_session_consume_stream(session_.get(), id, std::exchange(exchange.unread_bytes, 0));
}

void Translator::read(Reading which) {
  reading_ = which;
  for (auto& [id, exchange] : exchanges_) {
    if (which == Reading::All || (which == Reading::Next && id == next_)) open_window(id);
  }
}

const Exchange* Translator::front() const {
  const auto found = exchanges_.find(next_);
  return found == exchanges_.end() ? nullptr : &found->second;
}

bool Translator::has_news() const {
  const Exchange* const exchange = front();
  if (exchange != nullptr && exchange->is_tunnel && !has_ended()) {
    return exchange->has_head && !(exchange->answer.head.empty() && exchange->answer.body.empty());
  }
  return exchange != nullptr &&
         (exchange->has_head || exchange->is_closed || !exchange->interim.empty());
}

Http2Client::Next Translator::next() {
  const Exchange* const exchange = front();
  if (exchange == nullptr) return Next::Waits;
  if (exchange->is_whole || !exchange->interim.empty()) return Next::Whole;
  if (!exchange->is_closed) return Next::Waits;
  next_ += 2;
  return Next::Broken;
}

Answer Translator::take() {
  Exchange& exchange = exchanges_.at(next_);
  if (!exchange.interim.empty()) {
    Answer interim = std::move(exchange.interim.front());
    exchange.interim.pop_front();
    return interim;
  }
  next_ += 2;
  return std::move(exchange.answer);
}

bool Translator::has_last() const {
  return std::ranges::any_of(exchanges_, [](const auto& entry) {
    return entry.second.is_last && (entry.second.is_whole || entry.second.is_closed);
  });
}

std::string Translator::take_some() {
  if (front() == nullptr || !front()->has_head) return {};
  Exchange& exchange = exchanges_[next_];
  open_window(next_);
  return std::exchange(exchange.answer.head, {}).append(std::exchange(exchange.answer.body, {}));
}

bool Translator::has_ended() const {
  return front() != nullptr && (front()->is_whole || front()->is_closed);
}

std::string Translator::take_rest() {
  std::string text;
  for (; exchanges_.contains(next_); next_ += 2) {
    const Exchange& exchange = exchanges_[next_];
    text.append(exchange.answer.head);
    if (exchange.answer.field("Content-Length")) {
      text.append(exchange.answer.body);
      continue;
    }
    std::array<char, 16> size{};
    const auto end = std::to_chars(size.begin(), size.end(), exchange.answer.body.size(), 16).ptr;
    if (!exchange.answer.body.empty()) {
      text.append(size.data(), end).append("\r\n").append(exchange.answer.body).append("\r\n");
    }
    if (exchange.is_whole) text.append("0\r\n").append(exchange.answer.trailers).append("\r\n");
  }
  return text;
}

}  // namespace

std::unique_ptr<Http2Client> make_http2_client(bool is_secure) {
  return std::make_unique<Translator>(is_secure);
}

}  // namespace skua::testing
