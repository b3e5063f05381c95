// SPDX-License-Identifier: MIT
// In: a command line. Out: a server for a folder, its address on the first line of stdout, and
// advice on stderr if it cannot run.
#include "serve/command.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "configure.hpp"
#include "serve/hand_over/launcher.hpp"
#include "serve/ip_rules.hpp"
#include "serve/launch/browser.hpp"
#include "serve/launch/launch.hpp"
#include "serve/launch/ports.hpp"
#include "serve/log/log_options.hpp"
#include "serve/options.hpp"
#include "serve/print_config.hpp"
#include "serve/sandbox/sandbox.hpp"
#include "serve/sandbox/user.hpp"
#include "serve/settings/reload.hpp"
#include "serve/settings/replaceable_router.hpp"
#include "serve/site/host_check.hpp"
#include "serve/site/virtual_hosts.hpp"
#include "serve/status/console.hpp"
#include "serve/status/response_tally.hpp"
#include "serve/status/status_display.hpp"
#include "serve/tls.hpp"
#include "serve/watch/live_folder.hpp"
#include "settings/settings.hpp"
#include "skua/access_log.hpp"
#include "skua/address.hpp"
#include "skua/admin.hpp"
#include "skua/client_metrics.hpp"
#include "skua/crash_reports.hpp"
#include "skua/https_redirect.hpp"
#include "skua/inherited_sockets.hpp"
#include "skua/ip_filter.hpp"
#include "skua/router.hpp"
#include "skua/server.hpp"
#include "skua/service.hpp"
#include "skua/shutdown_signals.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

int report(const Problem& problem) {
  std::fprintf(stderr, "skua: %s\n", problem.text.c_str());
  return failed;
}

// Prints lines on standard output; if that fails, the server goes on.
void announce(const std::string& lines) {
  try {
    write_all(standard_output, lines);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "skua: cannot write to standard output: %s\n",
                 error.code().message().c_str());
  }
}

void add_hooks(ServeOptions& options, AccessLog* log, ResponseTally& tally, Console& console) {
  const bool logs_to_terminal = log != nullptr && log->is_terminal();
  options.shows_status = options.status && !options.quiet && !logs_to_terminal && can_show_status();
  if (log != nullptr || options.shows_status) {
    ResponseTally* const used = options.shows_status ? &tally : nullptr;
    options.server.hooks.on_response = [log, used](const RequestRecord& record) {
      if (log != nullptr) log->add(record);
      if (used != nullptr) used->add(record);
    };
  }
  const LogLevel lowest = options.quiet ? LogLevel::Warning : LogLevel::Info;
  options.server.hooks.log = [&console, lowest](LogLevel level, std::string_view text) {
    if (level >= lowest) console.say("skua: " + std::string(text) + "\n");
  };
}

// The server that redirects plain HTTP to HTTPS; empty without --redirect-http.
struct Redirect {
  Router router;
  std::optional<Server> server{};
};

// The server of --admin; empty without.
struct Admin {
  Admin(const ServeOptions& options, const ServerContent& content, const SiteMemory& memory) {
    if (options.admin.empty()) return;
    metrics = std::make_shared<Metrics>();
    content.measure(*metrics, memory);
    health = std::make_shared<Health>();
    if (content.check) content.check(*health);
    router = admin_routes({.metrics = metrics, .health = health});
    add_host_check(router, admin_options(options), options);
  }

  std::shared_ptr<Metrics> metrics{};
  std::shared_ptr<Health> health{};
  Router router{};
  std::optional<Server> server{};
};

// The names of the inherited sockets for these two, as systemd or a predecessor says.
constexpr const char* redirect_name = "redirect";
constexpr const char* admin_name = "admin";

// The service that the servers are: its manager, and the process that follows this one.
class RunningService {
 public:
  Result<void, Problem> start_launcher(bool is_wanted) {
    return is_wanted ? launcher_.start() : Result<void, Problem>();
  }
  // Makes the service, before any thread starts. The arguments must outlive it.
  Service& make(const ServeOptions& options, Console& console, const Redirect& redirect) {
    const auto launch = [this, &redirect](std::vector<ListeningSocket> sockets) {
      for (ListeningSocket& socket : sockets) {
        const std::uint16_t port = socket.socket->local_address().port();
        if (redirect.server && redirect.server->port() == port) socket.name = redirect_name;
      }
      if (admin_ == nullptr) return launcher_.launch(sockets);
      for (ListeningSocket& socket : admin_->listening_sockets()) {
        socket.name = admin_name;
        sockets.push_back(std::move(socket));
      }
      auto process = launcher_.launch(sockets);
      if (!process) return process;
      admin_->share_listening_sockets();
      admin_->begin_shutdown();  // from now on, operators hear of the new process only
      return process;
    };
    const auto log = [&options, &console](LogLevel level, std::string_view text) {
      if (options.quiet && level == LogLevel::Info) return;
      console.say("skua: " + std::string(text) + "\n");
    };
    return service_.emplace(
        ServiceOptions{.hand_over = options.hand_over, .start_successor = launch, .log = log});
  }
  // Hands over the sockets of this server, too, which is not one of the service.
  void add_admin(Server& server) noexcept { admin_ = &server; }
  void end_launcher() noexcept { launcher_.end(); }

 private:
  Launcher launcher_;
  std::optional<Service> service_;
  Server* admin_ = nullptr;
};

// A server without privileges.
struct Confined {
  std::string holds{};                  ///< of the sandbox, as a text
  std::optional<SandboxNeeds> needs{};  ///< the rights that it kept; none without the sandbox
  BrowserLauncher browser{};
};

Result<Confined, Problem> confine(const ServeOptions& options, const std::optional<User>& user,
                                  BackendChoice backend) {
  if (options.sandbox) {
    SandboxNeeds needs = needs_of(options, backend);
    auto holds = enter_sandbox(needs, user);
    if (!holds) return std::move(holds).error();
    return Confined{.holds = *std::move(holds), .needs = std::move(needs)};
  }
  if (user) {
    if (auto changed = become(*user); !changed) return std::move(changed).error();
  }
  return Confined();
}

// Starts a browser, which connects once the server accepts.
BrowserLauncher launch_browser(const ServeOptions& options, const Server& server) {
  BrowserLauncher browser;
  if (!options.open) return browser;
  const auto started = browser.start(browser_url(server.url()));
  if (!started) std::fprintf(stderr, "skua: %s\n", started.error().text.c_str());
  return browser;
}

// Starts the servers, on another port if the usual one is taken and nobody chose it. Privileges are
// given up when all of them listen, and before any thread starts, because each thread has its own.
// Returns the exit code, after printing why, if that fails.
Result<Confined, int> start(std::optional<Server>& server, const Router& router, Redirect& redirect,
                            Admin& admin, ServeOptions& options, const std::optional<User>& user) {
  Confined confined;
  std::optional<int> code;  // once the reason is printed
  const auto give_up_privileges = [&]() -> Result<void, Problem> {
    confined.browser = launch_browser(options, *server);
    auto outcome = confine(options, user, server->backend());
    if (outcome) {
      outcome->browser = confined.browser;
      confined = *std::move(outcome);
      return {};
    }
    code = report(outcome.error());
    return std::move(outcome).error();
  };
  const auto admin_or_go_on = [&]() -> Result<void, Problem> {
    if (options.admin.empty()) return give_up_privileges();
    const ServerOptions wanted = admin_options(options);
    Server& third = admin.server.emplace(admin.router, wanted);
    auto started = third.start(give_up_privileges);
    if (!started && !code) code = report_start(wanted, started.error(), "--admin");
    return started;
  };
  const auto redirect_or_go_on = [&]() -> Result<void, Problem> {
    if (!options.redirect_port) return admin_or_go_on();
    // The only known name of this machine is the host that the client asked for.
    redirect.router = redirect_to_https({.hosts = {"*"}, .port = server->port()});
    Server& second = redirect.server.emplace(redirect.router, redirect_options(options));
    auto started = second.start(admin_or_go_on);
    if (!started && !code) {
      code = report_start(redirect_options(options), started.error(), "--redirect-http");
    }
    return started;
  };
  const std::uint16_t wanted = options.server.port;
  const std::uint16_t last = last_port(options, is_terminal(standard_output));
  while (true) {
    const auto started = server.emplace(router, options.server).start(redirect_or_go_on);
    if (started) break;
    if (code) return *code;
    if (started.error().code() != Errc::AddressInUse || options.server.port >= last) {
      options.server.port = wanted;
      return report_start(options.server, started.error());
    }
    ++options.server.port;
  }
  if (options.server.port != wanted) {
    std::fprintf(stderr, "skua: port %d is taken by another program: this is %d\n", wanted,
                 options.server.port);
  }
  confined.browser.report_failure();
  return confined;
}

// Sets up the filter of --allow and --deny.
Result<void, Problem> add_filter(ServeOptions& options, const std::shared_ptr<IpFilter>& filter) {
  const bool is_filtered = !options.allow.empty() || !options.deny.empty();
  if (!is_filtered && options.config.empty()) return {};  // a file may get rules later
  if (is_filtered && options.server.listeners.empty() && options.server.host.starts_with("unix:")) {
    return Problem{Error(Errc::Unsupported, "--allow"),
                   "--allow and --deny are for IP addresses: the permissions of a Unix socket's "
                   "path decide who may connect"};
  }
  auto rules = read_ip_rules(options);
  if (!rules) return std::move(rules).error();
  filter->replace(*std::move(rules));
  options.server.ip_filter = filter;
  return {};
}

// Takes over inherited sockets, sets up the proxies of --trust-proxy and the filter, and checks
// what is allowed with them.
Result<void, Problem> prepare(ServeOptions& options, const std::shared_ptr<IpFilter>& filter) {
  auto inherited = inherited_sockets();
  if (!inherited) return std::move(inherited).error();
  for (ListeningSocket& socket : *inherited) {
    if (options.redirect_port && socket.name == redirect_name) {
      options.redirect_listeners.push_back(std::move(socket));
    } else if (!options.admin.empty() && socket.name == admin_name) {
      options.admin_listeners.push_back(std::move(socket));
    } else {
      options.server.listeners.push_back(std::move(socket));
    }
  }
  auto proxies = read_trusted_proxies(options);
  if (!proxies) return std::move(proxies).error();
  options.server.trusted_proxies = *std::move(proxies);
  if (auto added = add_filter(options, filter); !added) return added;
  return check_changes(options);
}

// Returns the addresses of --public, which cannot be asked for in the sandbox.
std::vector<Address> public_addresses(const ServeOptions& options) {
  std::vector<Address> found;
  const bool is_asked = options.is_public || options.qr;
  if (!is_asked || !options.server.listeners.empty()) return found;
  const auto interfaces = network_interfaces();
  if (!interfaces) return found;
  for (const NetworkInterface& one : *interfaces) {
    if (!one.is_up) continue;
    for (const Address& address : one.addresses) {
      if (address.family() == Address::Family::Ipv4) found.push_back(address);
    }
  }
  return found;
}

// Prints where other machines reach the server.
void announce_public(const ServeOptions& options, const std::vector<Address>& addresses,
                     std::uint16_t port) {
  if (!options.is_public || !options.server.listeners.empty()) return;
  std::fprintf(stderr, "WARNING: --public: everyone who reaches this machine can %s\n",
               options.folder.empty() ? "use the servers behind it" : "read the folder");
  const char* const scheme = options.server.tls.is_enabled() ? "https" : "http";
  for (const Address& address : addresses) {
    std::fprintf(stderr, "  %s://%s\n", scheme, address.with_port(port).to_string().c_str());
  }
}

// Prints where the server is reached, and its options that a user should know of.
void announce_all(const ServeOptions& options, const Server& server, const Redirect& redirect,
                  const Admin& admin, const LiveFolder& live, const std::string& holds,
                  const std::vector<Address>& addresses, bool has_colours,
                  const std::string& what) {
  for (const std::string& url : server.urls()) announce("listening on " + url + "\n");
  if (admin.server) announce("admin on " + admin.server->url() + "\n");
  if (options.quiet) return;
  if (options.sandbox) announce("sandbox: " + holds + "\n");
  announce_public(options, addresses, server.port());
  announce_qr_code(options, server.url(), addresses, has_colours);
  for (const std::string& writers : {upload_text(options), webdav_text(options)}) {
    if (!writers.empty()) std::fprintf(stderr, "%s\n", writers.c_str());
  }
  std::fputs(virtual_hosts_text(options).c_str(), stderr);
  announce_https(options, server, redirect.server ? &*redirect.server : nullptr);
  if (options.watch) std::fprintf(stderr, "%s\n", live.text().c_str());
  std::fprintf(stderr, "%s with %s; press Ctrl-C to stop\n", what.c_str(),
               to_string(server.backend()).data());
}

// The sandbox permits no lookups. A server without it is better than none because of a name server
// that is late, and the user is told.
void allow_lookups(ServeOptions& options, const std::vector<std::string>& unresolved) {
  for (const std::string& why : unresolved) std::fprintf(stderr, "skua: %s\n", why.c_str());
  if (unresolved.empty() || !options.sandbox) return;
  std::fputs("skua: there is no sandbox, so that requests can look it up\n", stderr);
  options.sandbox = false;
}

// Finds the user of --user.
Result<std::optional<User>, Problem> wanted_user(const ServeOptions& options) {
  if (options.user.empty()) return std::optional<User>();
  auto found = find_user(options.user);
  if (!found) return std::move(found).error();
  return std::optional<User>(*std::move(found));
}

}  // namespace

int run_server(ServeOptions& options, const ServerContent& content) {
  RunningService running;
  if (const auto made = running.start_launcher(options.hand_over); !made) {
    return report(made.error());
  }
  Result<LiveFolder, Problem> live = watch_folder(options);
  if (!live) return report(live.error());
  const auto filter = std::make_shared<IpFilter>();
  if (const auto prepared = prepare(options, filter); !prepared) return report(prepared.error());
  const auto user = wanted_user(options);
  if (!user) return report(user.error());
  Console console;
  ResponseTally tally;
  const auto log = open_log(options, *user, [&console](std::string_view message) {
    console.say("skua: " + std::string(message) + "\n");
  });
  if (!log) return report(log.error());
  add_hooks(options, log->get(), tally, console);
  Result<ServedSite, Problem> site = content.make({.reload = live->hub()});  // it has the log now
  if (!site) return report(site.error());
  allow_lookups(options, site->memory.unresolved);
  std::optional<ReplaceableRouter> replaceable;  // which costs a little for each request
  if (content.is_reloadable && is_reloadable(options)) replaceable.emplace(std::move(site->router));
  const std::vector<Address> addresses = public_addresses(options);
  const bool has_colours = is_terminal(standard_error);  // not known in the sandbox
  Redirect redirect;
  Service& service = running.make(options, console, redirect);
  if (service.manager().is_successor()) options.open = options.qr = false;
  const ShutdownSignals signals;  // before any thread starts, so that all threads inherit it
  std::optional<Server> started;
  Admin admin(options, content, site->memory);  // last: looks at the server
  options.server.metrics = admin.metrics;
  const auto confined = start(started, replaceable ? replaceable->front() : site->router, redirect,
                              admin, options, *user);
  if (!confined) return confined.error();
  if (!started) return failed;
  Server& server = *started;
  report_crashes(server);
  if (admin.server) {
    admin.health->watch(server);
    running.add_admin(*admin.server);
  }
  live->start();
  announce_all(options, server, redirect, admin, *live, confined->holds, addresses, has_colours,
               content.text);
  if (*log) (*log)->start();  // after the lines above
  std::optional<StatusDisplay> status;
  if (options.shows_status) status.emplace(server, tally, console);
  const auto tell = [&options, &console, &running] {
    running.end_launcher();
    if (options.quiet) return;
    console.say("stopping after the requests in progress; press Ctrl-C again to stop at once\n");
  };
  std::optional<Reloader> reloader;
  if (replaceable) {
    reloader.emplace(options, *replaceable, *filter, std::move(site->memory), confined->needs,
                     console);
  }
  // A gateway has nothing to read again but certificates, and outlives its terminal.
  const auto reload = [&reloader, &service, &content] {
    if (reloader) reloader->reload();
    return reloader || !content.is_reloadable || service.manager().is_present();
  };
  if (redirect.server) {
    signals.wait_and_drain({server, *redirect.server}, tell, reload, &service);
  } else {
    signals.wait_and_drain({server}, tell, reload, &service);
  }
  return succeeded;
}

std::function<int()> configure_serve(CLI::App& parser) {
  const auto options = std::make_shared<ServeOptions>();
  declare(parser, *options);
  return [options, &parser] {
    if (!options->print_config) {
      const auto make = [&options](SiteMemory memory) {
        return make_sites(*options, std::move(memory));
      };
      const auto measure = [&options](Metrics& metrics, const SiteMemory& memory) {
        if (!options->site.proxies.empty()) collect_clients(metrics, {memory.proxied});
      };
      return run_server(*options, {.make = make,
                                   .text = "serving " + options->folder,
                                   .measure = measure,
                                   .is_reloadable = true});
    }
    print_config(settings_text(parser), *options);
    return static_cast<int>(succeeded);
  };
}

// In: the error that keeps a server from running. Out: that error and advice, on stderr.

namespace {

// The text of such an error already names the file, the problem and the remedy.
bool is_about_tls(Error error) noexcept {
  if (error.code() == Errc::TlsConfiguration) return true;
  return error.code() == Errc::Unsupported && error.context().find("TLS") != std::string_view::npos;
}

}  // namespace

int report_start(const ServerOptions& options, const Problem& problem,
                 const std::string& port_option) {
  if (is_about_tls(problem.error)) {
    std::fprintf(stderr, "skua: cannot serve HTTPS: %s\n", problem.text.c_str());
    return failed;
  }
  if (!options.listeners.empty()) {
    std::fprintf(stderr, "skua: cannot use an inherited socket: %s\n", problem.text.c_str());
    return failed;
  }
  const bool is_unix = options.host.starts_with("unix:");
  std::string advice;
  switch (problem.code()) {
    case Errc::AddressInUse: {
      if (is_unix) {
        advice = "Another program is listening there; if the socket file is stale, remove it.";
        break;
      }
      const unsigned other = options.port < 65'535 ? options.port + 1U : 8080U;
      advice = "Another program is listening there. Choose another port, such as " + port_option +
               " " + std::to_string(other) + ", or use " + port_option + " 0 to pick a free one.";
      break;
    }
    case Errc::PermissionDenied:
      advice = is_unix ? "Choose a path in a folder that you may write to."
                       : "Ports below 1024 need privileges. Try " + port_option + " 8080.";
      break;
    case Errc::AddressUnavailable:
    case Errc::InvalidAddress:
      advice =
          "--host must be an address of this machine (127.0.0.1, 0.0.0.0, [::1], [::]) or "
          "unix:/PATH.";
      break;
    case Errc::Unsupported: advice = "Use --backend auto."; break;
    default: break;
  }
  std::string place = options.host;
  if (!is_unix) place += ":" + std::to_string(options.port);
  std::fprintf(stderr, "skua: cannot listen on %s: %s\n%s%s", place.c_str(),
               problem.error.message().c_str(), advice.c_str(), advice.empty() ? "" : "\n");
  return failed;
}

}  // namespace skua::cli
