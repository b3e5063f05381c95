// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/stream.hpp"
#include "skua/task.hpp"
#include "skua/tls.hpp"

namespace skua {

namespace tls {
class ClientContext;
class ReloadableContext;
}  // namespace tls

/// The client's side of TLS: trusted authorities, a certificate of its own, protocols. A cheap copy
/// of shared files and sessions; any thread may use it.
class SKUA_API TlsConnector final {
 public:
  /// Reads all files. `protocols` (ALPN, RFC 7301) are offered in order of preference.
  ///
  /// Ends with: TlsConfiguration and the reason; Unsupported in a build without OpenSSL.
  static Result<TlsConnector, Problem> create(const ClientTlsOptions& options = {},
                                              const std::vector<std::string>& protocols = {});

 private:
  friend class TlsStream;
  explicit TlsConnector(std::shared_ptr<const tls::ClientContext> context) noexcept;
  std::shared_ptr<const tls::ClientContext> context_;  // shared with connections
};

/// The server's side of TLS: certificates and keys. A cheap copy; any thread may use it.
class SKUA_API TlsAcceptor final {
 public:
  /// Reads all files. `protocols` lists the server's protocols (ALPN); a client that offers only
  /// others is refused, one that offers none is not.
  ///
  /// Ends with: TlsConfiguration and the reason; Unsupported in a build without OpenSSL.
  static Result<TlsAcceptor, Problem> create(const TlsOptions& options,
                                             const std::vector<std::string>& protocols = {});
  /// Reads the files again, for later connections. On an error the old certificates stay.
  Result<void, Problem> reload();

 private:
  friend class TlsStream;
  explicit TlsAcceptor(std::shared_ptr<tls::ReloadableContext> context) noexcept;
  std::shared_ptr<tls::ReloadableContext> context_;  // shared with copies
};

/// A TLS connection. The end of the peer's side without its close_notify is TlsTruncated, so cut
/// data never looks complete.
class SKUA_API TlsStream final : public Stream {
 public:
  TlsStream() noexcept = default;

  /// Connects to a host like TcpStream::connect, and speaks TLS. The certificate must be valid for
  /// `host`.
  ///
  /// Ends with: the errors of TcpStream::connect; InvalidHost if the name is empty or longer than
  ///            255 bytes; TlsCertificate, TlsHandshakeFailed, TimedOut.
  static Task<Result<TlsStream, Problem>> connect(TlsConnector connector, std::string host,
                                                  std::uint16_t port, ConnectOptions options = {});
  /// Speaks TLS over a connection, as its client: for protocols that begin without it (STARTTLS).
  ///
  /// Ends with: TlsHandshakeFailed, also if bytes that were not received have arrived before, as
  ///            somebody on the way may have inserted them; InvalidHost, TlsCertificate, TimedOut.
  static Task<Result<TlsStream, Problem>> connect(TlsConnector connector, TcpStream stream,
                                                  std::string host, Duration patience = 10s);
  /// Speaks TLS over a connection, as its server.
  ///
  /// Ends with: TlsHandshakeFailed, TlsCertificate, TimedOut.
  static Task<Result<TlsStream, Problem>> accept(TlsAcceptor acceptor, TcpStream stream,
                                                 Duration patience = 10s);

  /// Returns the protocol that was negotiated (ALPN), or an empty view.
  [[nodiscard]] std::string_view protocol() const noexcept SKUA_LIFETIMEBOUND;

 private:
  explicit TlsStream(std::shared_ptr<sockets::StreamCore> core) noexcept;
};

}  // namespace skua
