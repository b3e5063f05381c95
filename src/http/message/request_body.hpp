// SPDX-License-Identifier: MIT
#pragma once

namespace skua {

class Request;

namespace http {

/// Reports whether the content has a coding other than identity. RFC 9110 §8.4
bool has_coding(const Request& request) noexcept;

}  // namespace http
}  // namespace skua
