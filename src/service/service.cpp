// SPDX-License-Identifier: MIT
// In: what becomes of servers, and SIGUSR2. Out: what a service manager is told, and a successor.
#include "skua/service.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "async/guarded.hpp"
#include "net/log.hpp"
#include "net/socket.hpp"
#include "service/signals.hpp"
#include "service/successor.hpp"
#include "service/watchdog.hpp"

namespace skua {

struct Service::Impl {
  explicit Impl(ServiceOptions told) : options(std::move(told)), log(net::quiet(options.log)) {}

  Result<int, Problem> hand_over(const std::vector<Server*>& from);
  std::vector<ListeningSocket> sockets_of(Server& server) const;
  Result<int, Problem> start_successor(const std::vector<ListeningSocket>& sockets);
  void say(LogLevel level, std::string_view text) const { net::tell(log, level, {text}); }

  const ServiceOptions options;
  const net::Log log;
  ServiceManager manager{};
  service::HandOverSignal signal{options.hand_over};
  std::vector<Server*> servers{};
  std::vector<std::pair<const Server*, std::string>> names{};
  std::optional<service::Watchdog> watchdog{};
  bool is_handed_over = false;
};

Service::Service(ServiceOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  const std::optional<Problem>& problem = impl_->manager.problem();
  if (problem) impl_->say(LogLevel::Warning, problem->text);
}

Service::~Service() = default;

void Service::name(const Server& server, std::string name) {
  const bool is_usable = !name.empty() && name.find_first_of(":\n") == std::string::npos &&
                         !name.starts_with(net::own_socket_name);
  if (!is_usable) throw std::invalid_argument("Service::name: this cannot be the name of a socket");
  auto& names = impl_->names;
  std::erase_if(names, [&](const auto& one) { return one.first == &server; });
  names.emplace_back(&server, std::move(name));
}

ServiceManager& Service::manager() noexcept { return impl_->manager; }

int Service::on_serving(Servers servers) {
  Impl& impl = *impl_;
  impl.servers.clear();
  for (Server& server : servers) impl.servers.push_back(&server);
  impl.manager.ready();
  const Duration watchdog = impl.manager.watchdog();
  if (watchdog > Duration::zero()) {
    impl.watchdog.emplace(impl.servers, watchdog / 2, [&impl] { impl.manager.keep_alive(); });
  }
  return impl.signal.number();
}

void Service::on_reload() { impl_->manager.reloading(); }

void Service::on_reloaded() { impl_->manager.ready(); }

void Service::on_drain() {
  impl_->watchdog.reset();
  if (!impl_->is_handed_over) impl_->manager.stopping();
}

void Service::on_end() {
  impl_->watchdog.reset();
  impl_->servers.clear();
}

bool Service::on_other_signal() {
  Impl& impl = *impl_;
  const auto process = impl.hand_over(impl.servers);
  if (process) {
    impl.say(LogLevel::Info, "handed over to process " + std::to_string(*process));
    return true;
  }
  const std::string why = "not handed over: " + process.error().text;
  impl.say(LogLevel::Error, why);
  impl.manager.status(why);
  return false;
}

Result<int, Problem> Service::hand_over(Servers servers) {
  std::vector<Server*> all;
  for (Server& server : servers) all.push_back(&server);
  return impl_->hand_over(all);
}

// The sockets stay open here until the new process serves, so nothing is lost if it does not.
Result<int, Problem> Service::Impl::hand_over(const std::vector<Server*>& from) {
  std::vector<ListeningSocket> sockets;
  for (Server* const server : from) {
    for (ListeningSocket& socket : sockets_of(*server)) sockets.push_back(std::move(socket));
  }
  if (sockets.empty()) {
    return Problem{Error(Errc::Closed, "hand over"), "the servers do not listen"};
  }
  auto process = start_successor(sockets);
  if (!process) return process;
  is_handed_over = true;
  for (Server* const server : from) server->share_listening_sockets();
  watchdog.reset();  // the new process has its own
  manager.replaced_by(*process);
  return process;
}

std::vector<ListeningSocket> Service::Impl::sockets_of(Server& server) const {
  std::vector<ListeningSocket> sockets = server.listening_sockets();
  const auto found = std::ranges::find(names, &server, &decltype(names)::value_type::first);
  if (found == names.end()) return sockets;
  for (ListeningSocket& socket : sockets) {
    if (socket.name.empty()) socket.name = found->second;
  }
  return sockets;
}

Result<int, Problem> Service::Impl::start_successor(const std::vector<ListeningSocket>& sockets) {
  if (options.start_successor) {
    return async::attempted([&] { return options.start_successor(sockets); }, "hand over");
  }
  service::Successor successor{.command = options.command,
                               .variables = manager.variables(),
                               .sockets = sockets,
                               .deadline = options.hand_over_deadline,
                               .is_unwanted = service::is_end_pending};
  if (successor.command.empty()) {
    auto own = service::own_command();
    if (!own) return std::move(own).error();
    successor.command = *std::move(own);
  }
  return service::start(successor);
}

Result<void, Problem> serve(const Router& router, ServerOptions options, Service& service) {
  if (options.listeners.empty()) {
    auto inherited = inherited_sockets();
    if (!inherited) return std::move(inherited).error();
    options.listeners = *std::move(inherited);
  }
  if (!options.hooks.log) options.hooks.log = net::to_standard_error();
  const ShutdownSignals signals;
  Server server(router, std::move(options));
  if (auto started = server.start(); !started) return started;
  signals.wait_and_drain(server, service);
  return {};
}

}  // namespace skua
