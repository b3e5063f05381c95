// SPDX-License-Identifier: MIT
#include "files/listing/page_assets.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/base_encoding.hpp"
#include "crypto/digest.hpp"
#include "files/listing/upload_form.hpp"

namespace skua::files {
namespace {

TEST(PageAssets, ThePolicyAllowsThemByTheirDigestsAndNothingElse) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  const auto source = [](std::string_view text) {
    const auto digest = crypto::hash(crypto::Hash::Sha256, text);
    return " 'sha256-" + base64::encode(digest.value()) + "'";
  };
  const std::string sources = "style-src" + source(listing_style) + "; script-src" +
                              source(listing_script) + source(upload_script);
  EXPECT_TRUE(listing_policy.starts_with("default-src 'none'; "));
  EXPECT_TRUE(listing_policy.ends_with("; " + sources)) << sources;
}

}  // namespace
}  // namespace skua::files
