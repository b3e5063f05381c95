// SPDX-License-Identifier: MIT
// The client: requests that wait for a connection, origins of a pool, streams of a connection.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/wire/h2_connection.hpp"
#include "client/wire/pool.hpp"
#include "load.hpp"
#include "loop/loop.hpp"
#include "skua/client_options.hpp"
#include "support/h2_frames.hpp"
#include "support/memory_stream.hpp"

namespace skua::growing {
namespace {

using client::Pool;
using client::PooledConnection;
namespace frames = h2::frames;

class Fake final : public PooledConnection {
 public:
  explicit Fake(Pool& pool) : pool_(pool) {}
  [[nodiscard]] std::size_t capacity() const noexcept override { return 1; }
  void close() override { static_cast<void>(pool_.remove(*this)); }

 private:
  Pool& pool_;
};

/// A pool whose connections serve one request at a time.
class PoolLoad : public Load {
 public:
  explicit PoolLoad(const client::PoolLimits& limits) : pool_(*loop_, limits) {}

 protected:
  using Acquired = Result<Pool::Lease, Problem>;

  template <class F>
  void on_loop(const F& act) {
    loop_->post(act);
    for (int turn = 0; turn < 2; ++turn) loop_->run_once(Duration(0));
  }
  Task<Acquired> acquire(const std::string& host) {
    return pool_.acquire(host, host, 1h, [this] { return connect(); });
  }
  void end() {
    on_loop([this] { pool_.close_all(); });
  }

  std::unique_ptr<loop::Loop> loop_ = loop::Loop::create({.backend = BackendChoice::Poll}).value();
  Pool pool_;

 private:
  Task<Result<std::unique_ptr<PooledConnection>, Problem>> connect() {
    co_return std::make_unique<Fake>(pool_);
  }
};

/// A connection is given back and lent to the request that has waited longest; another joins.
class WaitingRequests final : public PoolLoad {
 public:
  explicit WaitingRequests(std::size_t others) : PoolLoad({.per_host = 1, .total = 1}) {
    on_loop([this, others] {
      requests_.reserve(others + 200);
      for (std::size_t i = 0; i <= others; ++i) begin();
    });
  }
  ~WaitingRequests() override {
    on_loop([this] { requests_.clear(); });
    end();
  }

  void operate() override {
    on_loop([this] {
      begin();
      static_cast<void>(requests_[first_++].result());
    });
  }

 private:
  void begin() {
    requests_.push_back(acquire("example.com"));
    requests_.back().start(nullptr, nullptr);
  }

  std::vector<Task<Acquired>> requests_;
  std::size_t first_ = 0;  // that has a connection
};

/// Like WaitingRequests, but the others wait for other hosts.
class WaitingHosts final : public PoolLoad {
 public:
  explicit WaitingHosts(std::size_t others) : PoolLoad({.per_host = 1, .total = 2}) {
    on_loop([this, others] {
      requests_.reserve(others + 200);
      begin("other");
      begin("example.com");
      begin("example.com");
      for (std::size_t i = 0; i < others; ++i) begin("host" + std::to_string(i));
      next_ = others + 3;
    });
  }
  ~WaitingHosts() override {
    on_loop([this] { requests_.clear(); });
    end();
  }

  void operate() override {
    on_loop([this] {
      begin("example.com");
      static_cast<void>(requests_[first_].result());
      first_ = first_ == 1 ? 2 : first_ == 2 ? next_ : first_ + 1;
    });
  }

 private:
  void begin(const std::string& host) {
    requests_.push_back(acquire(host));
    requests_.back().start(nullptr, nullptr);
  }

  std::vector<Task<Acquired>> requests_;
  std::size_t first_ = 1;  // for example.com, that has a connection
  std::size_t next_ = 0;
};

/// A request uses an idle connection, while connections to other hosts are idle.
class PoolOrigins final : public PoolLoad {
 public:
  explicit PoolOrigins(std::size_t others) : PoolLoad({.per_host = 8, .total = others + 1}) {
    on_loop([this, others] {
      for (std::size_t i = 0; i < others; ++i) use("host" + std::to_string(i));
      use("example.com");
    });
  }
  ~PoolOrigins() override { end(); }

  void operate() override {
    on_loop([this] { use("example.com"); });
  }

 private:
  void use(const std::string& host) {
    Task<Acquired> request = acquire(host);
    request.start(nullptr, nullptr);
    static_cast<void>(request.result());
  }
};

/// A request over HTTP/2 is answered, while others wait for their responses: at most 900, as a
/// connection has 1,000 streams at once.
class ClientStreams final : public Load {
 public:
  explicit ClientStreams(std::size_t others) {
    others = std::min<std::size_t>(others, 900);
    on_loop([this] {
      auto memory = std::make_unique<net::MemoryStream>();
      stream_ = memory.get();
      lease_.emplace(pool_.acquire("key", "example.com", 10s,
                                   [this, &memory] { return connect(std::move(memory)); }));
      lease_->start(nullptr, nullptr);
    });
    kept_ = lease_->result().value();
    feed(frames::settings({{3, static_cast<std::uint32_t>(others + 10)}}) + frames::settings_ack());
    on_loop([this, others] {
      for (std::size_t i = 0; i < others; ++i) exchanges_.push_back(begin());
    });
  }
  ~ClientStreams() override {
    on_loop([this] {
      exchanges_.clear();
      kept_.release();
      pool_.close_all();
      stream_->pump();
    });
  }

  void operate() override {
    client::ExchangePointer exchange;
    on_loop([&] { exchange = begin(); });
    feed(frames::headers(id_, frames::field(":status", "200"), frames::whole));
    on_loop([&] {
      while (exchange->read()->event != h1::ResponseEvent::Complete) {
      }
      exchange.reset();
    });
  }

 private:
  template <class F>
  void on_loop(const F& act) {
    loop_->post([this, &act] {
      act();
      stream_->pump();
    });
    loop_->run_once(Duration(0));
  }
  void feed(const std::string& bytes) {
    stream_->feed(bytes);
    on_loop([] {});
  }
  Task<Result<std::unique_ptr<PooledConnection>, Problem>> connect(
      std::unique_ptr<net::Stream> stream) {
    auto made = std::make_unique<client::H2Connection>(nullptr, *loop_, pool_, blocks_, heads_,
                                                       std::move(stream), limits_,
                                                       ClientLimits().stream_bytes);
    connection_ = made.get();
    co_return std::unique_ptr<PooledConnection>(std::move(made));
  }
  client::ExchangePointer begin() {
    id_ = id_ == 0 ? 1 : id_ + 2;
    return connection_->begin({.method = Method::Get, .url = url_, .fields = fields_}).value();
  }

  std::unique_ptr<loop::Loop> loop_ = loop::Loop::create({.backend = BackendChoice::Poll}).value();
  net::OutputQueue::Blocks blocks_{16};
  client::HeadBudget heads_{1 << 24, 1 << 24};
  Pool pool_{*loop_, {.per_host = 1}};
  const Url url_ = *Url::parse("http://example.com:8080/");
  const FieldLines fields_{};
  const h1::ResponseLimits limits_{};
  std::optional<Task<Result<Pool::Lease, Problem>>> lease_;
  Pool::Lease kept_;
  net::MemoryStream* stream_ = nullptr;
  client::H2Connection* connection_ = nullptr;
  std::uint32_t id_ = 0;
  std::vector<client::ExchangePointer> exchanges_;
};

constexpr std::array scenarios{Scenario{"waiting requests", make<WaitingRequests>},
                               Scenario{"waiting hosts", make<WaitingHosts>},
                               Scenario{"origins of a pool", make<PoolOrigins>},
                               Scenario{"client streams", make<ClientStreams>}};

}  // namespace

std::span<const Scenario> client_scenarios() { return scenarios; }

}  // namespace skua::growing
