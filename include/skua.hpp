// SPDX-License-Identifier: MIT
/// The one include: everything of skua that is public.
#pragma once

#include "skua/accept.hpp"
#include "skua/bytes.hpp"
#include "skua/compression.hpp"
#include "skua/counters.hpp"
#include "skua/error.hpp"
#include "skua/file_options.hpp"
#include "skua/files.hpp"
#include "skua/http_error.hpp"
#include "skua/method.hpp"
#include "skua/middleware.hpp"
#include "skua/options.hpp"
#include "skua/prepared_response.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"
#include "skua/server.hpp"
#include "skua/shutdown_signals.hpp"
#include "skua/static_text.hpp"
#include "skua/status.hpp"
