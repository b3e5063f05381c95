// SPDX-License-Identifier: MIT
#pragma once

#include "router/match.hpp"
#include "server/resources.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::server {

/// Runs what a request matched, and makes a response of everything that can come out of it: it
/// never throws.
Response dispatch(Resources& resources, const router::Match& match, Request& request) noexcept;

}  // namespace skua::server
