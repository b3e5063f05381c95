// SPDX-License-Identifier: MIT
#include "files/mime_type.hpp"

#include <gtest/gtest.h>

namespace skua::files {
namespace {

TEST(MimeType, KnowsWhatTheWebIsMadeOf) {
  EXPECT_EQ(mime_type("index.html"), "text/html; charset=utf-8");
  EXPECT_EQ(mime_type("style.css"), "text/css; charset=utf-8");
  EXPECT_EQ(mime_type("app.js"), "text/javascript; charset=utf-8");
  EXPECT_EQ(mime_type("app.mjs"), "text/javascript; charset=utf-8");
  EXPECT_EQ(mime_type("data.json"), "application/json");
  EXPECT_EQ(mime_type("a.svg"), "image/svg+xml");
  EXPECT_EQ(mime_type("a.png"), "image/png");
  EXPECT_EQ(mime_type("a.woff2"), "font/woff2");
  EXPECT_EQ(mime_type("a.wasm"), "application/wasm");
  EXPECT_EQ(mime_type("a.mp4"), "video/mp4");
  EXPECT_EQ(mime_type("a.pdf"), "application/pdf");
}

TEST(MimeType, FindsTheFirstAndTheLastRow) {
  EXPECT_EQ(mime_type("x.3g2"), "video/3gpp2");
  EXPECT_EQ(mime_type("x.zst"), "application/zstd");
}

TEST(MimeType, LooksAtTheLastExtensionWhateverItsCase) {
  EXPECT_EQ(mime_type("/a.css/b.tar.GZ"), "application/gzip");
  EXPECT_EQ(mime_type("PHOTO.JPG"), "image/jpeg");
}

TEST(MimeType, CallsTheRestBytes) {
  for (const char* name : {"", "/", "a", "a.", ".html", ".js", "a.nothing", "html", "a.html/b",
                           "a.averyveryveryverylongextension", "a.\xFF", "a.htm l"}) {
    EXPECT_EQ(mime_type(name), "application/octet-stream") << name;
  }
}

TEST(MimeType, KnowsTextFilesThatHaveNoExtension) {
  EXPECT_EQ(mime_type("/src/LICENSE"), "text/plain; charset=utf-8");
  EXPECT_EQ(mime_type("Makefile"), "text/plain; charset=utf-8");
}

TEST(Compressible, IsTextAndWhatIsBuiltOnIt) {
  for (const std::string_view type :
       {"text/html; charset=utf-8", "TEXT/x", "application/json", "application/problem+json",
        "image/svg+xml", "application/wasm", "text/event-stream", "Application/JavaScript;x=y",
        "application/xml ; q"}) {
    EXPECT_TRUE(is_compressible(type)) << type;
  }
  for (const std::string_view type :
       {"", "image/png", "video/mp4", "application/gzip", "font/woff2", "application/octet-stream",
        "application/zip", "text", "json", "application/jsonx"}) {
    EXPECT_FALSE(is_compressible(type)) << type;
  }
}

}  // namespace
}  // namespace skua::files
