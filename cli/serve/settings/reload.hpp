// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "serve/options.hpp"
#include "serve/sandbox/sandbox.hpp"
#include "serve/settings/replaceable_router.hpp"
#include "serve/site/site.hpp"
#include "serve/status/console.hpp"
#include "skua/error.hpp"
#include "skua/ip_filter.hpp"

namespace skua::cli {

/// Reports whether there are files that a Reloader reads again.
bool is_reloadable(const ServeOptions& options);

/// Reads the files of a running server again: those of --config, --auth, --allow and --deny. If one
/// of them is wrong, everything stays as it was. The outcome is printed on the console.
class Reloader {
 public:
  /// The references outlive this object. There are no `needs` without the sandbox.
  Reloader(const ServeOptions& started, ReplaceableRouter& router, IpFilter& filter,
           SiteMemory memory, std::optional<SandboxNeeds> needs, Console& console)
      : started_(started),
        router_(router),
        filter_(filter),
        memory_(std::move(memory)),
        needs_(std::move(needs)),
        console_(console) {}

  void reload();

 private:
  Result<ServeOptions, Problem> read() const;
  Result<std::string, Problem> apply(const ServeOptions& options);

  const ServeOptions& started_;
  ReplaceableRouter& router_;
  IpFilter& filter_;
  SiteMemory memory_;
  std::optional<SandboxNeeds> needs_;
  Console& console_;
};

}  // namespace skua::cli
