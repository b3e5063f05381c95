// SPDX-License-Identifier: MIT
// In: the text of an upstream server. Out: its URL, and a client for each thread that needs one.
#include "proxy/upstream.hpp"

#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/base_encoding.hpp"
#include "crypto/random.hpp"
#include "loop/loop.hpp"

namespace skua::proxy {
namespace {

constexpr std::string_view unix_scheme = "unix:";
constexpr std::size_t pseudonym_bytes = 6;

std::atomic<std::uint64_t> last_id{0};

/// The clients of one loop.
struct Clients {
  struct One {
    std::uint64_t id = 0;  // of the upstream server
    std::shared_ptr<client::Core> core{};
  };

  Clients() = default;
  Clients(Clients&&) noexcept = default;
  Clients& operator=(Clients&&) noexcept = default;
  ~Clients() {
    for (const One& one : all) one.core->break_off();
  }

  std::vector<One> all;
};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument("upstream '" + std::string(text) + "': " + why);
}

Url read_url(std::string_view text) {
  if (text.starts_with(unix_scheme)) return Url::parse("http://localhost").value();
  Result<Url> url = Url::parse(text);
  if (!url) refuse(text, "it is not a URL");
  if (url->scheme() != "http" && url->scheme() != "https") {
    refuse(text, "it has to begin with http://, https:// or unix:/");
  }
  if (url->host().empty()) refuse(text, "it has no host");
  if (url->has_userinfo()) refuse(text, "it must not have a user or a password");
  if (url->has_query() || url->has_fragment()) refuse(text, "it must not have a query or fragment");
  return *std::move(url);
}

std::string read_socket(std::string_view text) {
  if (!text.starts_with(unix_scheme)) return {};
  const std::string_view path = text.substr(unix_scheme.size());
  if (!path.starts_with('/')) refuse(text, "the path of a socket has to begin with a slash");
  return std::string(path);
}

std::optional<std::string> base_of(const Url& url) {
  std::string_view path = url.path();
  if (path.empty()) return std::nullopt;
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

std::string make_pseudonym() {
  return "skua-" + hex::encode(crypto::random_bytes(pseudonym_bytes).value());
}

ClientOptions client_options(std::string_view text, const Url& url,
                             const ReverseProxyOptions& options) {
  ClientOptions made;
  made.base_url = url.to_string();
  const ReverseProxyTimeouts& timeouts = options.timeouts;
  made.timeouts.resolve = timeouts.connect;
  made.timeouts.connect = timeouts.connect;
  made.timeouts.handshake = timeouts.connect;
  made.timeouts.queue = timeouts.connect;
  made.timeouts.head = timeouts.response;
  made.timeouts.idle = timeouts.idle;
  made.timeouts.idle_connection = timeouts.idle_connection;
  made.connections = options.connections;
  made.connections_per_host = options.connections;
  made.versions = options.versions;
  made.unix_socket = read_socket(text);
  made.hosts = options.hosts;
  made.tls = options.tls;
  return made;
}

client::TlsContexts tls_contexts(std::string_view text, const Url& url,
                                 const ClientOptions& options) {
  if (url.scheme() != "https") return {};
  Result<client::TlsContexts, Problem> made = client::TlsContexts::create(options);
  if (!made) refuse(text, made.error().text);
  return *std::move(made);
}

}  // namespace

Upstream::Upstream(std::string_view text, const ReverseProxyOptions& options)
    : Upstream(text, read_url(text), options) {}

Upstream::Upstream(std::string_view text, const Url& url, const ReverseProxyOptions& options)
    : options_(options),
      base_(base_of(url)),
      pseudonym_(make_pseudonym()),
      client_options_(client_options(text, url, options)),
      tls_(tls_contexts(text, url, client_options_)),
      id_(last_id.fetch_add(1, std::memory_order_relaxed) + 1) {}

std::shared_ptr<client::Core> Upstream::client() const {
  loop::Loop& loop = loop::Loop::current();
  std::vector<Clients::One>& all = loop.attachments().get<Clients>().all;
  for (const Clients::One& one : all) {
    if (one.id == id_) return one.core;
  }
  auto core = std::make_shared<client::Core>(loop, client_options_, tls_);
  all.push_back({id_, core});
  return core;
}

}  // namespace skua::proxy
