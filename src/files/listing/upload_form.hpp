// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace skua::files {

/// The form of a listing, as HTML, which sends files to the folder. With scripts, each file has its
/// progress and can be cancelled; without, the browser sends the form.
extern const std::string_view upload_form;

/// The script of the form, without its tags.
extern const std::string_view upload_script;

}  // namespace skua::files
