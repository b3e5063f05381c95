// SPDX-License-Identifier: MIT
// In: stream operations. Out: those of the back end; only addresses come from the socket itself.
#include "net/tcp_stream.hpp"

namespace skua::net {

// Closes the descriptor of a stream that was never used: the system does not watch it yet.
TcpStream::~TcpStream() { const Socket unused(descriptor()); }

Address TcpStream::peer() const { return peer_address(descriptor()); }

Address TcpStream::local() const { return local_address(descriptor()); }

}  // namespace skua::net
