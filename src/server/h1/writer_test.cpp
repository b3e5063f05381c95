// SPDX-License-Identifier: MIT
#include "server/h1/writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "skua/prepared_response.hpp"

namespace skua::server {
namespace {

class H1Writer : public ::testing::Test {
 protected:
  std::string write(Response response, bool keep_alive = true, bool is_http10 = false) {
    dated_.update(loop::Instant());
    write_response(output_, std::move(response),
                   {.dated = dated_, .is_http10 = is_http10, .keep_alive = keep_alive});
    return queued();
  }

  std::string queued() const {
    std::array<net::Slice, 16> slices;
    std::string text;
    const std::size_t count = output_.gather(slices);
    for (std::size_t i = 0; i < count; ++i) text.append(slices[i].data, slices[i].size_bytes);
    return text;
  }

  static std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  }

  DateCache dated_{"skua"};
  net::OutputQueue::Blocks blocks_{4};
  net::OutputQueue output_{blocks_};
};

TEST_F(H1Writer, KeepsAPreparedBodyUntilItIsSent) {
  auto prepared = std::make_shared<const PreparedResponse>(Response(std::string(100'000, 'x')));
  const std::weak_ptr<const PreparedResponse> watched = prepared;
  const std::string text = write(Response(std::move(prepared)));
  EXPECT_FALSE(watched.expired());
  EXPECT_TRUE(text.ends_with("\r\n\r\n" + std::string(100'000, 'x')));
  output_.clear();
  EXPECT_TRUE(watched.expired());
}

TEST_F(H1Writer, WritesFieldsThatWereAddedToAPreparedResponse) {
  const PreparedResponse prepared(Response("hello"));
  const std::string text = write(Response(prepared).header("X-Later", "1"));
  EXPECT_EQ(count(text, "\r\nX-Later: 1\r\n"), 1U);
  EXPECT_EQ(count(text, "\r\nServer: skua\r\n"), 1U);
  EXPECT_TRUE(text.ends_with("\r\n\r\nhello"));
}

TEST_F(H1Writer, WritesNoSecondDateOrServerBesideThoseOfAPreparedResponse) {
  const PreparedResponse prepared(
      Response("hello").header("Date", "Mon, 07 Nov 1994 08:49:37 GMT").header("Server", "other"));
  const std::string text = write(Response(prepared));
  EXPECT_EQ(count(text, "Date: "), 1U);
  EXPECT_EQ(count(text, "Server: "), 1U);
}

TEST_F(H1Writer, ClosesAPreparedResponseLikeAnyOther) {
  const PreparedResponse prepared(Response("hello"));
  EXPECT_EQ(count(write(Response(prepared), false), "Connection: close\r\n"), 1U);
  output_.clear();
  EXPECT_EQ(count(write(Response(prepared), true, true), "Connection: keep-alive\r\n"), 1U);
}

TEST_F(H1Writer, CountsAFileAsPressureUntilItIsSent) {
  for (int i = 0; i < 5; ++i) {
    Response response(Body(FileRange{nullptr, 0, 0, 10}));
    write_response(output_, std::move(response), {.dated = dated_});
  }
  EXPECT_GE(output_.pressure_bytes(), 5 * net::OutputQueue::file_pressure_bytes);
  while (!output_.empty()) output_.consume(1);
  EXPECT_EQ(output_.pressure_bytes(), 0U);
}

}  // namespace
}  // namespace skua::server
