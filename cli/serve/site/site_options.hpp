// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "configure.hpp"
#include "serve/site/field_rules.hpp"
#include "serve/site/path_rules.hpp"
#include "serve/site/proxy_rules.hpp"

namespace skua::cli {

/// The user name and password that clients need.
struct Login {
  std::string user{};
  std::string password{};
};

/// Parses `USER:PASSWORD`.
///
/// Ends with: std::invalid_argument, with a text that does not reveal it, if a part is missing or
///            contains a control character.
Login parse_login(const std::string& text);

/// The folder for a host name, see add_virtual_host().
struct VirtualHost {
  std::string name{};  ///< in lower case, without a port; `*.` stands for any labels
  std::string folder{};
};

/// Options of `skua serve` that change what is served for a path, and how.
struct SiteOptions {
  std::optional<Login> login{};         ///< from the environment
  std::optional<Login> upload_login{};  ///< likewise; for uploads, instead of `login`
  std::string spa{};                    ///< path of the page for unknown paths; empty: they are 404
  std::vector<VirtualHost> allowed_hosts{};  ///< names that a server on loopback serves, too
  std::vector<RewriteRule> rewrites{};       ///< the first that matches holds
  std::vector<RedirectRule> redirects{};     ///< likewise
  std::vector<ProxyRule> proxies{};          ///< the one with the longest prefix holds
  std::vector<ErrorPage> error_pages{};
  std::vector<HeaderRule> headers{};  ///< of two that match, the later wins
  std::vector<CacheRule> caches{};    ///< likewise
  std::vector<VirtualHost> hosts{};   ///< with folders of their own; all others have DIR
  std::string rate{};                 ///< of requests of a client, see parse_rate(); empty: any
  std::string cors{};                 ///< the origin that may read responses; empty: none, `*`: all
};

/// Adds an option whose value is optional and follows a `=`, as the next word may be DIR. `set` may
/// throw std::invalid_argument.
void add_optional_value(CLI::App& parser, const std::string& name, const std::string& fallback,
                        std::string text, std::function<void(const std::string&)> set);

/// Adds an option that may be repeated. `add` may throw std::invalid_argument.
void add_rules(CLI::App& parser, const std::string& name, const char* value, std::string text,
               std::function<void(const std::string&)> add);

/// Reads SKUA_AUTH and SKUA_UPLOAD_AUTH.
///
/// Ends with: CLI::ValidationError if one of them is malformed.
void read_logins(SiteOptions& options);

/// Adds the options to the command; `options` must outlive the parser.
void declare_site(CLI::App& parser, SiteOptions& options);

}  // namespace skua::cli
