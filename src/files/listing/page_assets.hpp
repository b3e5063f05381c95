// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace skua::files {

/// The style sheet of a listing, without its tags.
extern const std::string_view listing_style;

/// The script of a listing, without its tags. The page works without it.
extern const std::string_view listing_script;

/// The Content-Security-Policy of a listing. It allows the style sheet and the scripts by their
/// digests, so that no others can run, and loads nothing from other sites.
extern const std::string_view listing_policy;

}  // namespace skua::files
