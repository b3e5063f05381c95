// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/auth/login.hpp"
#include "serve/options.hpp"
#include "serve/site/rate.hpp"
#include "serve/watch/reload_hub.hpp"
#include "skua/client_metrics.hpp"
#include "skua/client_options.hpp"
#include "skua/error.hpp"
#include "skua/middleware.hpp"
#include "skua/router.hpp"

namespace skua::cli {

/// The state that a site takes over from the one that it replaces.
struct SiteMemory {
  Passwords passwords{};                  ///< with the logins that were verified
  std::vector<HostOverride> hosts{};      ///< of --proxy: the sandbox permits no lookups
  std::vector<std::string> unresolved{};  ///< why names of --proxy are not among them
  std::shared_ptr<ReloadHub> reload{};    ///< of --watch, shared with the thread that finds changes
  KeptRate rate{};                        ///< of --rate, with what clients have used
  ClientMetrics proxied{"proxy"};         ///< of --proxy
};

/// A router that serves a folder, with everything that options put around it.
struct ServedSite {
  Router router{};
  SiteMemory memory{};
};

/// Reads the files that the options name, and makes the site.
///
/// Ends with: the error of the folder, of a file in it that an option names, or of --auth.
Result<ServedSite, Problem> make_site(const ServeOptions& options, SiteMemory before = {});

/// Returns the middleware of --cors. Files are only read, but other servers take all methods.
///
/// Ends with: std::invalid_argument if the text is not an origin.
Cors site_cors(const std::string& origin, bool has_proxies = false);

}  // namespace skua::cli
