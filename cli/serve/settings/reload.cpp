// SPDX-License-Identifier: MIT
// In: SIGHUP. Out: a new site and new rules, made from the files as they are now, or a text that
// says what is wrong with them.
#include "serve/settings/reload.hpp"

#include <exception>
#include <string>
#include <utility>

#include "serve/ip_rules.hpp"
#include "serve/site/virtual_hosts.hpp"
#include "serve/site/webdav.hpp"

namespace skua::cli {
namespace {

// Names the options that differ from those that the server was started with.
void warn_of_fixed(Console& console, const ServeOptions& started, const ServeOptions& now) {
  for (const auto& [name, values] : now.fixed) {
    if (started.fixed.at(name) == values) continue;
    console.say("skua: a change of " + name + " needs a restart\n");
  }
}

void say_kept(Console& console, const std::string& why) {
  console.say("skua: keeping the old configuration: " + why + "\n");
}

}  // namespace

bool is_reloadable(const ServeOptions& options) {
  return !options.config.empty() || !options.auth.empty() || !ip_rule_files(options).empty();
}

void Reloader::reload() {
  try {
    auto options = read();
    if (!options) {
      say_kept(console_, options.error().text);
    } else if (const auto applied = apply(*options); !applied) {
      say_kept(console_, applied.error().text);
    } else {
      warn_of_fixed(console_, started_, *options);
      if (!started_.quiet) console_.say(*applied + "\n");  // last: it holds now
    }
  } catch (const std::exception& error) {  // such as std::bad_alloc: the server goes on
    say_kept(console_, error.what());
  }
}

// Returns the options as they are now, except those of the server as a whole.
Result<ServeOptions, Problem> Reloader::read() const {
  auto options = parse_again(started_.words);
  if (!options) return options;
  options->server = started_.server;
  options->open = started_.open;
  options->watch = started_.watch;
  options->log = started_.log;
  options->shows_status = started_.shows_status;
  if (auto checked = check_changes(*options); !checked) return std::move(checked).error();
  if (!needs_) return options;
  const std::string missing = missing_in(*needs_, needs_of(*options, started_.server.backend));
  if (missing.empty()) return options;
  return Problem{Error(Errc::PermissionDenied, "sandbox"),
                 "the sandbox does not let this server use " + missing + ": restart it"};
}

Result<std::string, Problem> Reloader::apply(const ServeOptions& options) {
  auto rules = read_ip_rules(options);
  if (!rules) return std::move(rules).error();
  memory_.unresolved.clear();
  auto site = make_sites(options, memory_);
  if (!site) return std::move(site).error();
  for (const std::string& why : site->memory.unresolved) {
    if (needs_) return Problem{Errc::NameNotResolved, why};
    console_.say("skua: " + why + "\n");
  }
  std::string done = "reloaded";
  if (!options.allow.empty() || !options.deny.empty()) {
    done += ": " + std::to_string(rules->allow.size()) + " networks allowed, " +
            std::to_string(rules->deny.size()) + " denied";
  }
  memory_ = std::move(site->memory);
  filter_.replace(*std::move(rules));
  router_.replace(std::move(site->router));
  return done;
}

}  // namespace skua::cli
