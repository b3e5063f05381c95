// SPDX-License-Identifier: MIT
//
// A peer of the benchmarks: Boost.Beast, asynchronous, with one io_context for each thread. It has
// no router and no HTTP/2. Usage: beast --port P [--threads N] [--tls-cert FILE --tls-key FILE]
// [--files FOLDER]

#define BOOST_BEAST_FILE_BUFFER_SIZE 65536

#include "websocket.hpp"

#include <boost/asio/ssl.hpp>
#include <boost/beast/ssl.hpp>

#include <array>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <optional>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

namespace {

using tcp = net::ip::tcp;
using Executor = net::io_context::executor_type;
using Socket = net::basic_stream_socket<tcp, Executor>;
using TlsSocket = beast::ssl_stream<Socket>;

constexpr std::size_t head_bytes = 64 * 1024;
constexpr std::size_t body_bytes = 16 * 1024 * 1024;

std::string files;

// Returns the value of Date, formatted once a second.
const std::string& date() {
  thread_local std::time_t last = 0;
  thread_local std::string text;
  if (const std::time_t now = std::time(nullptr); now != last) {
    std::tm utc{};
    std::array<char, 32> buffer;
    text.assign(buffer.data(), std::strftime(buffer.data(), buffer.size(),
                                             "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc)));
    last = now;
  }
  return text;
}

template <class Stream>
class Session : public std::enable_shared_from_this<Session<Stream>> {
 public:
  explicit Session(Stream stream) : stream_(std::move(stream)) {}

  void start() {
    if constexpr (std::is_same_v<Stream, TlsSocket>) {
      stream_.async_handshake(net::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code error) {
                                if (!error) self->read();
                              });
    } else {
      read();
    }
  }

 private:
  using Text = http::response<http::string_body>;
  using File = http::response<http::file_body>;
  using Head = http::request_parser<http::empty_body>;

  void read() {
    head_.emplace();
    head_->header_limit(head_bytes);
    head_->body_limit(
        std::numeric_limits<std::uint64_t>::max());  // boost::none is less than any length in 1.74
    http::async_read_header(stream_, buffer_, *head_,
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              if (!error) self->answer(self->head_->get());
                            });
  }

  void answer(http::request<http::empty_body>& request) {
    const std::string_view target(request.target().data(), request.target().size());
    is_persistent_ = request.keep_alive();
    if (websocket::is_upgrade(request)) {
      std::make_shared<WebSocket<Stream>>(std::move(stream_))->accept(std::move(request));
    } else if (target == "/") {
      write(text(http::status::ok, "text/plain", "Hello, World!"));
    } else if (target == "/json") {
      write(json());
    } else if (target == "/echo") {
      echo();
    } else if (target == "/upload") {
      upload(std::make_shared<Upload>(std::move(*head_)));
    } else if (target.starts_with("/files/") && target.find("..") == target.npos) {
      file(files + std::string(target.substr(6)));
    } else {
      write(text(http::status::not_found, "text/plain", "not found"));
    }
  }

  template <class Body>
  void describe(http::response<Body>& response, const char* type) {
    response.set(http::field::server, "Beast");
    response.set(http::field::date, date());
    response.set(http::field::content_type, type);
  }

  Text text(http::status status, const char* type, std::string content) {
    Text response(status, 11, std::move(content));
    describe(response, type);
    return response;
  }

  Text json() {
    Text response = text(http::status::ok, "application/json", R"({"message":"Hello, World!"})");
    response.set(http::field::cache_control, "no-cache, private");
    response.set(http::field::etag, R"("33a64df551425fcc55e4d42a1")");
    response.set(http::field::vary, "Accept-Encoding");
    response.set("X-Request-Id", "9f86d081884c7d659a2feaa0");
    response.set(http::field::access_control_allow_origin, "https://example.com");
    return response;
  }

  void echo() {
    const auto whole = std::make_shared<http::request_parser<http::string_body>>(std::move(*head_));
    whole->body_limit(body_bytes);
    http::async_read(stream_, buffer_, *whole,
                     [self = this->shared_from_this(), whole](error_code error, std::size_t) {
                       if (!error)
                         self->write(self->text(http::status::ok, "application/octet-stream",
                                                std::move(whole->get().body())));
                     });
  }

  struct Upload {
    explicit Upload(Head&& head) : parser(std::move(head)) {}

    http::request_parser<http::buffer_body> parser;
    std::array<char, 65536> piece;
    std::uint64_t size = 0;
  };

  void upload(const std::shared_ptr<Upload>& body) {
    if (body->parser.is_done())
      return write(text(http::status::ok, "text/plain", std::to_string(body->size)));
    auto& room = body->parser.get().body();
    room.data = body->piece.data();
    room.size = body->piece.size();
    http::async_read(stream_, buffer_, body->parser,
                     [self = this->shared_from_this(), body](error_code error, std::size_t) {
                       if (error && error != http::error::need_buffer) return;
                       body->size += body->piece.size() - body->parser.get().body().size;
                       self->upload(body);
                     });
  }

  void file(const std::string& path) {
    http::file_body::value_type content;
    error_code error;
    content.open(path.c_str(), beast::file_mode::scan, error);
    if (error) return write(text(http::status::not_found, "text/plain", "not found"));
    File response(http::status::ok, 11, std::move(content));
    describe(response, "application/octet-stream");
    write(std::move(response));
  }

  template <class Response>
  void write(Response&& response) {
    response.keep_alive(is_persistent_);
    response.prepare_payload();
    response_ = std::move(response);
    http::async_write(stream_, std::get<Response>(response_),
                      [self = this->shared_from_this()](error_code error, std::size_t) {
                        if (error) return;
                        self->is_persistent_ ? self->read() : self->close();
                      });
  }

  void close() {
    if constexpr (std::is_same_v<Stream, TlsSocket>) {
      stream_.async_shutdown([self = this->shared_from_this()](error_code) {});
    } else {
      error_code error;
      stream_.shutdown(tcp::socket::shutdown_send, error);
    }
  }

  Stream stream_;
  beast::flat_buffer buffer_;
  std::optional<Head> head_;
  std::variant<std::monostate, Text, File> response_;
  bool is_persistent_ = true;
};

void accept(net::io_context& context, tcp::acceptor& acceptor, net::ssl::context* tls) {
  acceptor.async_accept(
      context.get_executor(), [&context, &acceptor, tls](error_code error, Socket socket) {
        if (!error) {
          socket.set_option(tcp::no_delay(true), error);
          if (tls) {
            std::make_shared<Session<TlsSocket>>(TlsSocket(std::move(socket), *tls))->start();
          } else {
            std::make_shared<Session<Socket>>(std::move(socket))->start();
          }
        }
        accept(context, acceptor, tls);
      });
}

void serve(std::uint16_t port, net::ssl::context* tls) {
  using ReusePort = net::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
  net::io_context context(1);
  tcp::acceptor acceptor(context, tcp::v4());
  acceptor.set_option(tcp::acceptor::reuse_address(true));
  acceptor.set_option(ReusePort(true));
  acceptor.bind({net::ip::address_v4::loopback(), port});
  acceptor.listen(4096);
  accept(context, acceptor, tls);
  context.run();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto option = [&words](std::string_view name, const char* otherwise) -> std::string {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == name) return words[i + 1];
    }
    return otherwise;
  };
  files = option("--files", "");
  std::optional<net::ssl::context> tls;
  if (const std::string certificate = option("--tls-cert", ""); !certificate.empty()) {
    tls.emplace(net::ssl::context::tls_server);
    tls->set_options(net::ssl::context::no_tlsv1 | net::ssl::context::no_tlsv1_1);
    tls->use_certificate_chain_file(certificate);
    tls->use_private_key_file(option("--tls-key", ""), net::ssl::context::pem);
  }
  std::vector<std::jthread> threads;
  for (int count = std::stoi(option("--threads", "1")); count > 0; --count) {
    threads.emplace_back(serve, static_cast<std::uint16_t>(std::stoi(option("--port", "0"))),
                         tls ? &*tls : nullptr);
  }
}
