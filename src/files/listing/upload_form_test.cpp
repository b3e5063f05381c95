// SPDX-License-Identifier: MIT
#include "files/listing/upload_form.hpp"

#include <gtest/gtest.h>

#include <string>

#include "skua/files.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

TEST(UploadForm, IsOnTheListingsOfItsFolderOnly) {
  const support::TemporaryDirectory tree;
  tree.make("inbox/sub");
  tree.make("inbox2");
  Router router;
  router.files("/f", tree.string(), {.listing = true, .upload_form = "/inbox/"});
  const auto has_form = [&](const char* path) {
    const Response page = testing::call(router, std::string("GET ") + path);
    EXPECT_EQ(page.status(), Status::Ok) << path;
    const bool has = page.body().find("<form name=\"upload\"") != std::string_view::npos;
    EXPECT_EQ(page.body().find(upload_script) != std::string_view::npos, has);
    return has;
  };
  EXPECT_FALSE(has_form("/f/"));
  EXPECT_FALSE(has_form("/f/inbox2/"));
  EXPECT_TRUE(has_form("/f/inbox/"));
  EXPECT_TRUE(has_form("/f/inbox/sub/"));
}

}  // namespace
}  // namespace skua::files
