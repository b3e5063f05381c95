// SPDX-License-Identifier: MIT
// In: batches of commands, and bytes of a server. Out: replies, in the order of the commands, and
// pushes. A connection knows nothing about other ones: when it is lost, its batches fail.
#include "redis/connection.hpp"

#include <new>
#include <optional>
#include <utility>

#include "loop/loop.hpp"
#include "loop/timed_wait.hpp"
#include "net/problem.hpp"
#include "redis/problem.hpp"
#include "skua/address.hpp"
#include "skua/redis_command.hpp"
#include "skua/tls_stream.hpp"

namespace skua::redis {
namespace {

/// Connects the stream of a server.
Task<Result<Stream, Problem>> connect_stream(std::shared_ptr<const Settings> settings,
                                             Endpoint endpoint) {
  const Duration limit = settings->options.connect;
  const std::optional<TlsConnector>& tls = settings->tls;
  if (!endpoint.path.empty()) {
    const auto address = Address::unix_path(endpoint.path);
    if (!address) co_return Problem::from(address.error());
    auto connected = co_await TcpStream::connect(*address, limit);
    if (!connected) co_return std::move(connected).error();
    co_return Stream(*std::move(connected));
  }
  const ConnectOptions options{.resolve = limit, .connect = limit, .handshake = limit};
  if (tls && settings->options.server_name.empty()) {
    auto secure = co_await TlsStream::connect(*tls, endpoint.host, endpoint.port, options);
    if (!secure) co_return std::move(secure).error();
    co_return Stream(*std::move(secure));
  }
  auto connected = co_await TcpStream::connect(endpoint.host, endpoint.port, options);
  if (!connected) co_return std::move(connected).error();
  if (!tls) co_return Stream(*std::move(connected));
  auto secure = co_await TlsStream::connect(*tls, *std::move(connected),
                                            settings->options.server_name, limit);
  if (!secure) co_return std::move(secure).error();
  co_return Stream(*std::move(secure));
}

Command hello(const Settings& settings, Role role) {
  const Options& options = settings.options;
  const bool is_sentinel = role == Role::Sentinel;
  const std::string& user = is_sentinel ? options.sentinel_user : settings.user;
  const std::string& password = is_sentinel ? options.sentinel_password : settings.password;
  Command command("HELLO", 3);
  if (!password.empty()) {
    command.add("AUTH").add(user.empty() ? std::string("default") : user).add(password);
  }
  if (!options.client_name.empty()) command.add("SETNAME").add(options.client_name);
  return command;
}

Problem refused(const Endpoint& endpoint, const Reply& reply) {
  const Errc code = reply.error_code() == "LOADING" ? Errc::Overloaded : Errc::ErrorReply;
  const Error error(code, is_denial(reply.error_code()) ? denial : "redis");
  return net::could_not("log in to " + endpoint.to_string(), error, std::string(reply.text()));
}

}  // namespace

Connection::Connection(std::shared_ptr<const Settings> settings, Endpoint endpoint, Stream stream)
    : settings_(std::move(settings)),
      endpoint_(std::move(endpoint)),
      stream_(std::move(stream)),
      parser_({.reply_bytes = settings_->options.max_reply_bytes,
               .depth = settings_->options.max_reply_depth}),
      stall_timer_([this] { guarded([this] { on_stall(); }); }) {}

Connection::~Connection() {
  if (waiting_.empty()) return;
  const Problem why = problem_of(Error(Errc::Closed, "the connection to Redis was closed"));
  for (const BatchPtr& batch : waiting_) batch->fail(why);
}

Task<Result<Connection::Self, Problem>> Connection::open(std::shared_ptr<const Settings> settings,
                                                         Endpoint endpoint, Role role) {
  loop::Loop& loop = loop::Loop::current();
  const Duration limit = settings->options.connect;
  const std::string step = "connect to " + endpoint.to_string();
  Task<Result<Self, Problem>> connecting = connect(std::move(settings), std::move(endpoint), role);
  std::optional<Result<Self, Problem>> connected =
      co_await loop::within(loop, later(loop.now(), limit), std::move(connecting));
  if (!connected) co_return net::timed_out(step, {limit, "redis::Options::connect"});
  co_return *std::move(connected);
}

Task<Result<Connection::Self, Problem>> Connection::connect(
    std::shared_ptr<const Settings> settings, Endpoint endpoint, Role role) {
  Result<Stream, Problem> stream = co_await connect_stream(settings, endpoint);
  if (!stream) co_return std::move(stream).error();
  const Self self(new Connection(std::move(settings), std::move(endpoint), *std::move(stream)));
  self->listen();
  const Result<void, Problem> logged_in = co_await log_in(self, role);
  if (!logged_in) {
    self->close(logged_in.error());
    co_return logged_in.error();
  }
  co_return self;
}

/// Runs a step of an event. A failed allocation costs the connection.
template <class Step>
void Connection::guarded(Step step) noexcept {
  const Self alive = shared_from_this();
  try {
    step();
  } catch (const std::bad_alloc&) {
    lose(out_of_memory());
  }
}

void Connection::listen() {
  const std::weak_ptr<Connection> weak = weak_from_this();
  stream_.on_receive([weak](std::string_view bytes) {
    if (const Self self = weak.lock()) self->guarded([&] { self->read(bytes); });
  });
  stream_.on_end([weak](Error why) {
    const Self self = weak.lock();
    if (self == nullptr) return;
    self->guarded([&] {
      const Error error = why.code() == Errc::None ? Error(Errc::Closed, "redis") : why;
      self->lose(net::could_not("go on with " + self->endpoint_.to_string(), error));
    });
  });
  stream_.on_sent([weak](Error why) {
    const Self self = weak.lock();
    if (self == nullptr || why.code() == Errc::None) return;
    self->guarded(
        [&] { self->lose(net::could_not("send to " + self->endpoint_.to_string(), why)); });
  });
}

Task<Result<void, Problem>> Connection::log_in(Self self, Role role) {
  std::string wire;
  std::size_t count = 1;
  hello(*self->settings_, role).write(wire);
  const std::uint32_t database = self->settings_->database;
  if (database != 0 && role != Role::Sentinel) {
    Command("SELECT", database).write(wire);
    ++count;
  }
  if (role == Role::Master) {
    Command("ROLE").write(wire);
    ++count;
  }
  const auto batch = std::make_shared<Batch>(std::move(wire), count);
  self->send(batch);
  while (!batch->is_done()) co_await batch->changed().wait();
  if (const auto& why = batch->failure()) co_return *why;
  for (const Reply& reply : batch->replies()) {
    if (reply.is_error()) co_return refused(self->endpoint_, reply);
  }
  if (role == Role::Master && batch->replies().back()[0].text() != "master") {
    co_return net::could_not("use " + self->endpoint_.to_string(), Error(Errc::NotFound, "redis"),
                             "it is not a master");
  }
  co_return Result<void, Problem>();
}

void Connection::send(const BatchPtr& batch) noexcept {
  const Self alive = shared_from_this();
  guarded([&] { push(batch); });
  if (!is_open_) batch->fail(out_of_memory());  // unless it has failed already
}

void Connection::push(const BatchPtr& batch) {
  if (!is_open_) {
    return batch->fail(net::could_not("send to " + endpoint_.to_string(), Errc::Closed));
  }
  if (waiting_.empty()) heard_ = loop::Loop::current().now();
  // If one of these fails, the connection is lost: replies would be those of other batches.
  waiting_.push_back(batch);
  stream_.write(batch->take_wire());
  if (!may_be_silent_ && !stall_timer_.is_running()) {
    stall_timer_.start(settings_->options.stall);
  }
}

void Connection::on_stall() {
  if (!is_open_ || may_be_silent_ || waiting_.empty()) return;
  const Duration stall = settings_->options.stall;
  const loop::Instant end = later(heard_, stall);
  const loop::Instant now = loop::Loop::current().now();
  if (now < end) return stall_timer_.start(end - now);
  lose(net::timed_out("hear from " + endpoint_.to_string(), {stall, "redis::Options::stall"}));
}

// Input -------------------------------------------------------------------------------------------

void Connection::read(std::string_view bytes) {
  heard_ = loop::Loop::current().now();
  while (is_open_) {
    const auto event = parser_.next(bytes);
    if (event == resp::ReplyParser::Event::NeedMore) return;
    if (event == resp::ReplyParser::Event::Failed) {
      const Error error = parser_.error();
      return lose(net::could_not("read a reply of " + endpoint_.to_string(), error,
                                 std::string(error.context())));
    }
    take(parser_.take());
  }
}

void Connection::take(Reply reply) {
  if (reply.type() == ReplyType::Push || waiting_.empty()) {
    if (on_push_) return on_push_(std::move(reply));
    if (reply.type() == ReplyType::Push) return;
    return lose(net::could_not("read a reply of " + endpoint_.to_string(), Errc::MalformedReply,
                               "nothing was asked"));
  }
  if (waiting_.front()->add(std::move(reply))) waiting_.pop_front();
}

// The end -----------------------------------------------------------------------------------------

void Connection::lose(const Problem& why) noexcept {
  const Self alive = shared_from_this();
  const bool was_open = is_open_;
  close(why);
  if (const OnClosed call = std::exchange(on_closed_, nullptr); call && was_open) call(why);
}

void Connection::close(const Problem& why) noexcept {
  if (!std::exchange(is_open_, false)) return;
  stall_timer_.stop();
  stream_.close();
  while (!waiting_.empty()) {
    waiting_.front()->fail(why);
    waiting_.pop_front();
  }
}

}  // namespace skua::redis
