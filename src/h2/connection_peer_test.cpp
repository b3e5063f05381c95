// SPDX-License-Identifier: MIT
// Tests the session against an nghttp2 client: another implementation must understand what it
// sends.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "h2/connection.hpp"
#include "support/h2_recorder.hpp"

namespace skua::h2 {
namespace {

constexpr loop::Instant start{};

/// A client that records the responses it receives.
class Client {
 public:
  struct Response {
    std::string text;  // `:status=200 name=value ... [content] name=value closed NO_ERROR`
    std::string content;
  };

  Client() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
          std::string& text = static_cast<Client*>(user)->responses[frame->hd.stream_id].text;
          text.append(reinterpret_cast<const char*>(name), name_size).append("=");
          text.append(reinterpret_cast<const char*>(value), value_size).append(" ");
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                      std::size_t size, void* user) {
          static_cast<Client*>(user)->responses[id].content.append(
              reinterpret_cast<const char*>(data), size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
          std::string& text = static_cast<Client*>(user)->responses[id].text;
          text.append("closed ").append(name(static_cast<ErrorCode>(code)));
          return 0;
        });
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame*, int, void* user) {
          ++static_cast<Client*>(user)->invalid;
          return 0;
        });
    nghttp2_session* raw = nullptr;
    nghttp2_session_client_new(&raw, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    session.reset(raw);
    nghttp2_submit_settings(raw, NGHTTP2_FLAG_NONE, nullptr, 0);
  }

  std::int32_t request(std::vector<std::pair<std::string, std::string>> fields,
                       std::string content = {}) {
    std::vector<nghttp2_nv> list;
    for (auto& [name, value] : fields) {
      list.push_back({reinterpret_cast<std::uint8_t*>(name.data()),
                      reinterpret_cast<std::uint8_t*>(value.data()), name.size(), value.size(),
                      NGHTTP2_NV_FLAG_NONE});
    }
    contents.push_back(std::make_unique<std::string>(std::move(content)));
    nghttp2_data_provider provider{};
    provider.source.ptr = contents.back().get();
    provider.read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t* room,
                                std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                                void*) -> ssize_t {
      auto& text = *static_cast<std::string*>(source->ptr);
      const std::size_t taken = text.copy(reinterpret_cast<char*>(room), size);
      text.erase(0, taken);
      if (text.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(taken);
    };
    const bool has_content = !contents.back()->empty();
    return nghttp2_submit_request(session.get(), nullptr, list.data(), list.size(),
                                  has_content ? &provider : nullptr, nullptr);
  }
  std::int32_t get(const std::string& path, const std::string& method = "GET") {
    return request(
        {{":method", method}, {":scheme", "http"}, {":authority", "h"}, {":path", path}});
  }
  std::int32_t post(const std::string& content) {
    return request({{":method", "POST"}, {":scheme", "http"}, {":authority", "h"}, {":path", "/"}},
                   content);
  }

  struct Free {
    void operator()(nghttp2_session* its) const noexcept { nghttp2_session_del(its); }
  };
  std::map<std::int32_t, Response> responses;
  std::vector<std::unique_ptr<std::string>> contents;
  int invalid = 0;
  std::unique_ptr<nghttp2_session, Free> session;
};

class SessionClientTest : public ::testing::Test {
 protected:
  SessionClientTest() { open({}); }
  void open(const Options& options) {
    session = std::make_unique<Connection>(options, recorder, recorder.workspace, start);
    recorder.session = session.get();
  }
  /// Exchanges bytes until neither side has any left.
  void talk(std::size_t piece = 1U << 20U) {
    for (bool is_busy = true; is_busy;) {
      is_busy = false;
      const std::uint8_t* bytes = nullptr;
      while (const ssize_t size = nghttp2_session_mem_send(client.session.get(), &bytes)) {
        ASSERT_GT(size, 0);
        std::string_view input(reinterpret_cast<const char*>(bytes),
                               static_cast<std::size_t>(size));
        for (; !input.empty(); input.remove_prefix(std::min(piece, input.size()))) {
          session->receive(input.substr(0, piece), start);
        }
        is_busy = true;
      }
      while (session->wants_write() && session->write(30'000) != 0) {
      }
      const std::string output = recorder.flush();
      is_busy = is_busy || !output.empty();
      const auto* const sent = reinterpret_cast<const std::uint8_t*>(output.data());
      for (std::size_t at = 0; at < output.size();) {
        const std::size_t size = std::min(piece, output.size() - at);
        const ssize_t taken = nghttp2_session_mem_recv(client.session.get(), sent + at, size);
        ASSERT_GE(taken, 0);
        at += size;
      }
    }
    EXPECT_EQ(client.invalid, 0);
  }

  Client client;
  Recorder recorder;
  std::unique_ptr<Connection> session;
};

TEST_F(SessionClientTest, SendsHeadsThatAClientTakes) {
  recorder.when_requested = [this](Stream& stream, bool) {
    recorder.contents[stream.id()] = {.text = "hello", .trailers = "X-Sum: 5\r\n"};
    FieldLines hints;
    hints.add("Link", "</a>");
    session->inform(stream, Status::EarlyHints, hints);
    FieldLines fields;
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"X-Own", " spaced \t"},
                                                          {"Connection", "close"},
                                                          {"Keep-Alive", "1"},
                                                          {"Transfer-Encoding", "chunked"},
                                                          {"Upgrade", "h2c"},
                                                          {"Proxy-Connection", "close"},
                                                          {"Set-Cookie", "a=1"},
                                                          {"SET-COOKIE", "b=2; Path=/"},
                                                          {"Empty", ""}}) {
      fields.add(name, value);
    }
    session->respond(stream,
                     {.status = Status::Created,
                      .length_bytes = 5,
                      .date = "today",
                      .server = "skua",
                      .content_type = "text/plain",
                      .fields = &fields},
                     true);
  };
  const std::int32_t id = client.get("/");
  talk();
  EXPECT_EQ(client.responses[id].text,
            ":status=103 link=</a> :status=201 date=today server=skua content-type=text/plain "
            "content-length=5 x-own=spaced set-cookie=a=1 set-cookie=b=2; Path=/ empty= x-sum=5 "
            "closed NO_ERROR");
  EXPECT_EQ(client.responses[id].content, "hello");
}

TEST_F(SessionClientTest, CarriesLargeContentBothWaysThroughSmallWindows) {
  recorder.when_ended = [this](Stream& stream) {
    recorder.answer(stream, recorder.received[stream.id()] + "!");
  };
  std::string large;
  for (int i = 0; large.size() < 1'000'000; ++i) large += std::to_string(i) + ' ';
  const std::int32_t first = client.post(large);
  const std::int32_t second = client.post(large + "2");
  talk(7'777);
  EXPECT_TRUE(client.responses[first].content == large + "!");
  EXPECT_TRUE(client.responses[second].content == large + "2!");
  EXPECT_EQ(session->stream_count(), 0U);
}

TEST_F(SessionClientTest, AnswersHeadWithALengthAndNoContent) {
  recorder.when_requested = [this](Stream& stream, bool) {
    session->respond(stream, {.length_bytes = 1'000}, false);
  };
  const std::int32_t id = client.get("/", "HEAD");
  talk(1);
  EXPECT_EQ(client.responses[id].text, ":status=200 content-length=1000 closed NO_ERROR");
}

TEST_F(SessionClientTest, ThousandsOfRequestsOneAfterTheOther) {
  recorder.when_requested = [this](Stream& stream, bool) {
    recorder.answer(stream, std::string(stream.request().path_and_query));
  };
  for (int round = 0; round < 40; ++round) {
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 100; ++i) ids.push_back(client.get("/" + std::to_string(i)));
    talk();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ASSERT_EQ(client.responses[ids[i]].content, "/" + std::to_string(i));
    }
  }
  EXPECT_EQ(session->abuse_score(), 0U);
}

TEST_F(SessionClientTest, ACancelledRequestIsToldAndLeavesTheOthersAlone) {
  const std::int32_t cancelled = client.get("/1");
  const std::int32_t other = client.get("/2");
  talk();
  nghttp2_submit_rst_stream(client.session.get(), NGHTTP2_FLAG_NONE, cancelled, NGHTTP2_CANCEL);
  talk();
  EXPECT_NE(recorder.log.find("1 closed CANCEL"), std::string::npos);
  recorder.answer(*recorder.streams.at(static_cast<std::uint32_t>(other)), "here");
  talk();
  EXPECT_EQ(client.responses[other].content, "here");
}

TEST_F(SessionClientTest, AnErrorIsAnsweredAsAResponse) {
  recorder.when_requested = [this](Stream& stream, bool) {
    recorder.answer(stream, "no", status_for(stream.request().error));
  };
  const std::int32_t id = client.request({{":method", "GET"},
                                          {":scheme", "http"},
                                          {":authority", "h"},
                                          {":path", "/"},
                                          {"x-long", std::string(17'000, 'x')}});
  talk();
  EXPECT_EQ(client.responses[id].text.substr(0, 11), ":status=431");
  EXPECT_EQ(client.responses[id].content, "no");
}

TEST_F(SessionClientTest, ShutsDownWithoutLosingARequest) {
  const std::int32_t id = client.get("/");
  talk();
  session->begin_shut_down();
  talk();
  session->finish_shut_down();
  talk();
  EXPECT_FALSE(session->is_over());
  recorder.answer(*recorder.streams.at(static_cast<std::uint32_t>(id)), "last");
  talk();
  EXPECT_EQ(client.responses[id].content, "last");
  EXPECT_TRUE(session->is_over());
  EXPECT_EQ(nghttp2_session_want_read(client.session.get()), 0);
}

}  // namespace
}  // namespace skua::h2
