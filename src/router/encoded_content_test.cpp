// SPDX-License-Identifier: MIT
// Requests whose content has a Content-Encoding.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

Router readers() {
  Router router;
  router.post("/form", [](Request& request) -> Task<Response> {
    auto form = co_await request.form();
    if (!form) co_return form.error();
    co_return std::string(form->get("a").value_or("none"));
  });
  router.post("/parts", [](Request& request) -> Task<Response> {
    auto parts = request.multipart();
    auto part = co_await parts.next();
    if (!part) co_return part.error();
    co_return "a part";
  });
  router.post("/raw", [](const Request& request) { return std::string(request.body()); });
  return router;
}

Response post(std::string_view line, std::string_view type, std::string_view coding,
              std::string_view body) {
  testing::FakeRequest fake(line, body);
  fake.header("Content-Type", type);
  if (!coding.empty()) fake.header("Content-Encoding", coding);
  return readers().handle(fake.request());
}

constexpr std::string_view form = "application/x-www-form-urlencoded";
constexpr std::string_view parts = "multipart/form-data; boundary=x";
constexpr std::string_view part = "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x--";

TEST(EncodedContent, IsNeitherAFormNorParts) {
  for (const std::string_view coding : {"gzip", "br", "identity, gzip", "unknown", "GZIP"}) {
    const Response refused = post("POST /form", form, coding, "a=b");
    EXPECT_EQ(refused.status(), Status::UnsupportedMediaType) << coding;
    EXPECT_EQ(refused.header("Accept-Encoding"), "identity") << coding;
    const Response no_parts = post("POST /parts", parts, coding, part);
    EXPECT_EQ(no_parts.status(), Status::UnsupportedMediaType) << coding;
    EXPECT_EQ(no_parts.header("Accept-Encoding"), "identity") << coding;
  }
}

TEST(EncodedContent, AMediaTypeIsRefusedForItself) {
  for (const char* const line : {"POST /form", "POST /parts"}) {
    const Response refused = post(line, "application/json", "", "{}");
    EXPECT_EQ(refused.status(), Status::UnsupportedMediaType) << line;
    EXPECT_FALSE(refused.header("Accept-Encoding")) << line;
    const Response coded = post(line, "application/json", "gzip", "{}");
    EXPECT_EQ(coded.header("Accept-Encoding"), "identity") << line;
  }
}

TEST(EncodedContent, IdentityIsNone) {
  for (const std::string_view coding : {"", "identity", "Identity"}) {
    EXPECT_EQ(post("POST /form", form, coding, "a=b").body(), "b") << coding;
    EXPECT_EQ(post("POST /parts", parts, coding, part).body(), "a part") << coding;
  }
}

TEST(EncodedContent, IsTheHandlersWhereItTakesBytes) {
  EXPECT_EQ(post("POST /raw", "application/json", "gzip", "\x1f\x8b").body(), "\x1f\x8b");
}

}  // namespace
}  // namespace skua
