// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "get/options.hpp"
#include "get/request_content.hpp"

namespace skua::cli {

/// Quotes a word for a POSIX shell. Control characters, and what is not UTF-8, become `$'\x1b'`,
/// which bash, ksh and zsh understand.
std::string shell_word(std::string_view text);

/// Returns the curl command that does what the options ask for, without a line feed. It includes
/// credentials.
std::string curl_text(const GetOptions& options, const PreparedRequest& prepared);

}  // namespace skua::cli
