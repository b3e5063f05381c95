// SPDX-License-Identifier: MIT
// Each function of the public headers that opens a file or a folder of the program's, with one that
// is not there: the text of its problem, or of its exception, has the path as the program wrote it.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "crypto/digest.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

/// Returns the text of a problem; of an error too, if it is thrown.
template <class T>
std::string text_of(const Result<T, Problem>& result) {
  return result ? std::string("it worked") : result.error().text;
}
template <class Call>
std::string thrown_by(Call call) {
  try {
    call();
  } catch (const std::exception& failure) {
    return failure.what();
  }
  return "nothing was thrown";
}

struct Opening {
  const char* name;
  std::function<std::string(const std::string& path)> open;
};

std::vector<Opening> openings() {
  const std::chrono::sys_seconds now(1h);
  return {
      {"FileHandler", [](const auto& path) { return text_of(FileHandler::open(path)); }},
      {"UploadHandler", [](const auto& path) { return text_of(UploadHandler::open(path)); }},
      {"Router::files",
       [](const auto& path) { return thrown_by([&] { Router().files("/files", path); }); }},
      {"Router::file",
       [](const auto& path) { return thrown_by([&] { Router().file("/file", path + "/file"); }); }},
      {"Router::uploads",
       [](const auto& path) { return thrown_by([&] { Router().uploads("/files", path); }); }},
      {"CookieJar::load", [=](const auto& path) { return text_of(CookieJar().load(path, now)); }},
      {"CookieJar::save",
       [=](const auto& path) { return text_of(CookieJar().save(path + "/file", now)); }},
      {"AccessLog",
       [](const auto& path) { return text_of(AccessLog::open({.file = path + "/log"})); }},
  };
}

// names: files.open uploads.open webdav.open cookie_jar.load cookie_jar.save access_log.open
TEST(Problems, NameTheFileOrFolderOfTheProgram) {
  const support::TemporaryDirectory tree;
  const std::string path = (tree / "not there").string();
  std::vector<Opening> all = openings();
  if (WebDavHandler::open(tree.string())) {
    all.push_back({"WebDavHandler", [](const std::string& missing) {
                     return text_of(WebDavHandler::open(missing));
                   }});
  }
  if (crypto::is_available()) {
    all.push_back({"TlsOptions", [](const std::string& missing) {
                     const Router router;
                     ServerOptions options{.host = "127.0.0.1", .port = 0};
                     options.tls.certificate = missing;
                     options.tls.private_key = missing;
                     return text_of(Server(router, options).start());
                   }});
  }
  for (const Opening& opening : all) {
    const std::string text = opening.open(path);
    EXPECT_NE(text.find(path), std::string::npos) << opening.name << ": " << text;
  }
}

}  // namespace
}  // namespace skua
