// SPDX-License-Identifier: MIT
// Compares our HPACK and field rules with those of nghttp2.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "h2/hpack_decoder.hpp"
#include "h2/hpack_encoder.hpp"
#include "support/h2_frames.hpp"
#include "support/hpack.hpp"

namespace skua::h2 {
namespace {

using hpack::Fields;

const std::uint8_t* octets(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}
std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// nghttp2's decoder.
class Inflater {
 public:
  Inflater() { nghttp2_hd_inflate_new(&raw_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { nghttp2_hd_inflate_del(raw_); }

  std::optional<Fields> decode(std::string_view block) {
    Fields fields;
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv field{};
      flags = 0;
      const ssize_t taken =
          nghttp2_hd_inflate_hd2(raw_, &field, &flags, octets(block), block.size(), 1);
      if (taken < 0) return std::nullopt;
      block.remove_prefix(static_cast<std::size_t>(taken));
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0) continue;
      fields.emplace_back(text_of(field.name, field.namelen), text_of(field.value, field.valuelen));
    }
    nghttp2_hd_inflate_end_headers(raw_);
    return fields;
  }
  nghttp2_hd_inflater* raw() { return raw_; }

 private:
  nghttp2_hd_inflater* raw_ = nullptr;
};

/// nghttp2's encoder.
class Deflater {
 public:
  explicit Deflater(std::size_t max_table_bytes) { nghttp2_hd_deflate_new(&raw_, max_table_bytes); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { nghttp2_hd_deflate_del(raw_); }

  std::string encode(const Fields& fields, std::mt19937& random) {
    std::vector<nghttp2_nv> list;
    for (const auto& [name, value] : fields) {
      const auto flags = static_cast<std::uint8_t>(random() % 16 == 0 ? NGHTTP2_NV_FLAG_NO_INDEX
                                                                      : NGHTTP2_NV_FLAG_NONE);
      list.push_back({const_cast<std::uint8_t*>(octets(name)),
                      const_cast<std::uint8_t*>(octets(value)), name.size(), value.size(), flags});
    }
    std::string block(nghttp2_hd_deflate_bound(raw_, list.data(), list.size()), '\0');
    const ssize_t size = nghttp2_hd_deflate_hd(raw_, reinterpret_cast<std::uint8_t*>(block.data()),
                                               block.size(), list.data(), list.size());
    EXPECT_GE(size, 0);
    block.resize(static_cast<std::size_t>(size));
    return block;
  }
  nghttp2_hd_deflater* raw() { return raw_; }

 private:
  nghttp2_hd_deflater* raw_ = nullptr;
};

Fields random_fields(std::mt19937& random) {
  static const std::string names[] = {":authority",
                                      ":path",
                                      ":method",
                                      ":scheme",
                                      ":status",
                                      ":protocol",
                                      "server",
                                      "date",
                                      "content-type",
                                      "x-request-id",
                                      "cookie",
                                      "set-cookie",
                                      "content-length",
                                      "vary",
                                      "link",
                                      "from",
                                      "accept",
                                      "etag",
                                      "accept-charset",
                                      "max-forwards",
                                      "authorization",
                                      "x",
                                      "x-a",
                                      "x-b"};
  static const std::string values[] = {"",   "/",    "GET", "https",      "200", "gzip, deflate",
                                       "na", "text", "302", "/index.html"};
  Fields fields;
  for (std::size_t count = random() % 10; count != 0; --count) {
    std::string name = names[random() % std::size(names)];
    if (random() % 30 == 0) name = "x-" + std::string(random() % 250, 'n');
    std::string value = values[random() % std::size(values)];
    if (random() % 3 == 0) value = std::to_string(random() % 30);
    if (random() % 6 == 0) value.append(random() % 300, static_cast<char>(random() % 256));
    if (random() % 300 == 0) value.append(random() % 9000, 'v');
    fields.emplace_back(name, value);
  }
  return fields;
}

TEST(HpackNghttp2, ReadsWhatWeWrite) {
  std::mt19937 random(11);
  for (const std::uint32_t most : {0U, 40U, 256U, 1024U, 4096U, 10'000U}) {
    HpackEncoder encoder(most);
    Inflater inflater;
    for (int i = 0; i < 3000; ++i) {
      if (random() % 20 == 0) {
        const auto bytes = static_cast<std::uint32_t>(random() % (random() % 2 == 0 ? 400 : 9000));
        ASSERT_EQ(nghttp2_hd_inflate_change_table_size(inflater.raw(), bytes), 0);
        encoder.set_peer_table_bytes(bytes);
      }
      const Fields fields = random_fields(random);
      std::string block;
      encoder.start(block);
      for (const auto& [name, value] : fields) {
        const rules::Name found = rules::look_at(name);
        const auto indexing = static_cast<Indexing>(random() % 10 == 0 ? random() % 3 : 0);
        if (found.pseudo == Pseudo::None) {
          encoder.add(block, found.known, name, value, indexing);
        } else {
          encoder.add_pseudo(block, found.pseudo, value);
        }
      }
      const auto read = inflater.decode(block);
      ASSERT_TRUE(read == fields) << most << " " << i;
      ASSERT_EQ(nghttp2_hd_inflate_get_dynamic_table_size(inflater.raw()),
                encoder.table().size_bytes());
    }
  }
}

TEST(HpackNghttp2, WritesWhatWeRead) {
  std::mt19937 random(12);
  for (const std::uint32_t most : {0U, 40U, 256U, 4096U, 10'000U}) {
    Deflater deflater(most);
    HpackDecoder decoder(most);
    for (int i = 0; i < 3000; ++i) {
      if (random() % 20 == 0) {
        nghttp2_hd_deflate_change_table_size(deflater.raw(), random() % (most + 1));
      }
      const Fields fields = random_fields(random);
      const std::string block = deflater.encode(fields, random);
      const auto read = hpack::decode(decoder, block, {1 + random() % 40});
      ASSERT_TRUE(read == fields) << most << " " << i;
      ASSERT_EQ(nghttp2_hd_deflate_get_dynamic_table_size(deflater.raw()),
                decoder.table().size_bytes());
    }
  }
}

TEST(HpackNghttp2, RefusesTheSameBytes) {
  std::mt19937 random(13);
  int refused = 0;
  for (int i = 0; i < 60'000; ++i) {
    HpackDecoder decoder;
    Inflater inflater;
    for (int block = 0; block < 4; ++block) {
      std::string bytes(random() % 24, '\0');
      for (char& c : bytes) {
        c = static_cast<char>(random() % 3 == 0 ? random() : random() % 8 + (random() % 16) * 16);
      }
      const auto expected = inflater.decode(bytes);
      const auto read = hpack::decode(decoder, bytes, {1 + random() % 20});
      ASSERT_TRUE(read == expected) << i;
      if (!expected && ++refused != 0) break;
    }
  }
  EXPECT_GT(refused, 1000);
}

struct FreeSession {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};
using Session = std::unique_ptr<nghttp2_session, FreeSession>;

/// Reports whether nghttp2 accepts a head with these fields.
bool is_taken(bool is_server, const Fields& fields) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  bool has_head = false;
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type == NGHTTP2_HEADERS) *static_cast<bool*>(user) = true;
        return 0;
      });
  nghttp2_session_callbacks_set_on_invalid_header_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame*, const std::uint8_t*, std::size_t,
         const std::uint8_t*, std::size_t, std::uint8_t,
         void*) -> int { return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; });
  nghttp2_session_callbacks_set_send_callback(
      callbacks, [](nghttp2_session*, const std::uint8_t*, std::size_t size, int, void*) {
        return static_cast<ssize_t>(size);
      });
  nghttp2_session* raw = nullptr;
  const auto make = is_server ? nghttp2_session_server_new : nghttp2_session_client_new;
  make(&raw, callbacks, &has_head);
  const Session session(raw);
  nghttp2_session_callbacks_del(callbacks);

  const nghttp2_settings_entry connect{NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1};
  nghttp2_submit_settings(raw, NGHTTP2_FLAG_NONE, &connect, is_server ? 1 : 0);
  if (!is_server) nghttp2_submit_request(raw, nullptr, nullptr, 0, nullptr, nullptr);
  nghttp2_session_send(raw);
  std::string input = is_server ? std::string(client_preface) : "";
  input += frames::settings() + frames::settings_ack() +
           frames::headers(1, frames::block(fields), frames::open);
  const ssize_t taken = nghttp2_session_mem_recv(raw, octets(input), input.size());
  EXPECT_EQ(taken, static_cast<ssize_t>(input.size()));
  return has_head;
}

/// Reports whether the decoder accepts a field, as a literal and from the table.
bool is_fine(const std::string& name, const std::string& value) {
  HpackDecoder decoder;
  bool is_malformed = false;
  std::size_t taken = 0;
  const auto sink = [&](const DecodedField& field) {
    is_malformed = field.is_malformed;
    return true;
  };
  const std::string first = frames::remembered(name, value);
  EXPECT_EQ(decoder.decode(first, true, taken, sink), HpackDecoder::Result::Fine);
  const bool was_malformed = is_malformed;
  decoder.decode(frames::indexed(62), true, taken, sink);
  EXPECT_EQ(is_malformed, was_malformed);
  // A bad value after a good one, and vice versa: only the name is reused.
  const std::string other = frames::hpack_integer(0x40, 6, 62) + frames::hpack_text("\x01");
  decoder.decode(other, true, taken, sink);
  EXPECT_TRUE(is_malformed);
  const std::string again = frames::hpack_integer(0x00, 4, 62) + frames::hpack_text(value);
  decoder.decode(again, true, taken, sink);
  EXPECT_EQ(is_malformed, was_malformed);
  return !was_malformed;
}

void expect_same_in_request(const std::string& name, const std::string& value) {
  // Use a scheme whose paths nghttp2 does not check, unless the scheme is under test.
  Fields fields = {{":method", "OPTIONS"}, {":scheme", "s"}, {":path", "/"}, {":authority", "a"}};
  bool is_there = false;
  for (auto& field : fields) {
    if (field.first != name) continue;
    field.second = value;
    is_there = true;
  }
  if (name == ":protocol") {
    fields[0].second = "CONNECT";
    fields.emplace_back(name, value);
  } else if (name[0] == ':' && !is_there) {
    fields.emplace_back(name, value);
  } else if (!is_there) {
    fields.emplace_back(name, value);
  }
  EXPECT_EQ(is_fine(name, value), is_taken(true, fields)) << name << ": " << value;
}

std::vector<std::string> texts_with(unsigned octet) {
  const std::string c(1, static_cast<char>(octet));
  return {c, c + "x", "x" + c, "x" + c + "y"};
}

TEST(HpackNghttp2, RefusesTheSameFieldsOfRequests) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    for (const std::string& text : texts_with(octet)) {
      for (const char* name : {":method", ":scheme", ":path", ":authority", ":protocol", "host",
                               "x-any", "server", "cookie"}) {
        expect_same_in_request(name, text);
      }
      if (text[0] != ':') expect_same_in_request(text, "v");
    }
  }
  for (const char* name : {":method",
                           ":scheme",
                           ":path",
                           ":authority",
                           ":protocol",
                           "host",
                           "x-any",
                           "connection",
                           "keep-alive",
                           "proxy-connection",
                           "transfer-encoding",
                           "upgrade",
                           "te",
                           "content-length",
                           ":unknown",
                           ":",
                           ":Method",
                           "Server",
                           "http2-settings",
                           "set-cookie"}) {
    for (const char* value : {"",
                              "a",
                              "trailers",
                              "TRAILERS",
                              "trailers, deflate",
                              "0",
                              "00",
                              "12345678901234567890",
                              "9223372036854775807",
                              "9223372036854775808",
                              "1a",
                              "+1",
                              "-1",
                              " 1",
                              "1 ",
                              "\t",
                              "a b",
                              "http",
                              "https",
                              "1http",
                              "h+t-t.p",
                              "a:80",
                              "[::1]",
                              "a/b",
                              "user@a",
                              "*",
                              "/a?b#c"}) {
      expect_same_in_request(name, value);
    }
  }
}

TEST(HpackNghttp2, RefusesTheSameFieldsOfResponses) {
  for (int status = 0; status < 1000; ++status) {
    std::string text = std::to_string(status);
    text.insert(0, 3 - text.size(), '0');
    EXPECT_EQ(is_fine(":status", text), is_taken(false, {{":status", text}})) << text;
  }
  for (const char* text : {"", "1", "20", "2000", "2 0", " 200", "200 ", "abc", "-20",
                           "2\xb2"
                           "0"}) {
    EXPECT_EQ(is_fine(":status", text), is_taken(false, {{":status", text}})) << text;
  }
  for (unsigned octet = 0; octet < 256; ++octet) {
    for (const std::string& text : texts_with(octet)) {
      EXPECT_EQ(is_fine("server", text), is_taken(false, {{":status", "200"}, {"server", text}}));
    }
  }
  for (const char* name : {"connection", "te", "upgrade", "transfer-encoding", "content-length"}) {
    for (const char* value : {"", "a", "trailers", "12", "12x"}) {
      EXPECT_EQ(is_fine(name, value), is_taken(false, {{":status", "200"}, {name, value}}))
          << name << ": " << value;
    }
  }
}

}  // namespace
}  // namespace skua::h2
