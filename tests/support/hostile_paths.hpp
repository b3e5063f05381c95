// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace skua::support {

/// Paths that no platform looks up.
inline const std::vector<std::string> hostile_paths = {
    "",
    "a.txt",
    "../a.txt",
    "//a.txt",
    "/a//b",
    "/.",
    "/..",
    "/./a.txt",
    "/../etc/passwd",
    "/a/../b",
    "/a/..",
    "/a/./b",
    "/a\\b",
    "/..\\..\\etc",
    "/a\nb",
    "/a\rb",
    "/a\tb",
    "/a\x7F",
    std::string("/a\0b", 4),
    std::string("/a.txt\0", 7),
    "/" + std::string(256, 'a'),
    "/" + std::string(5000, 'a'),
};

}  // namespace skua::support
