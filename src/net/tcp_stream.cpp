// SPDX-License-Identifier: MIT
// In: the operations of a Stream. Out: those of the back end; only the addresses are asked for
// here.
#include "net/tcp_stream.hpp"

namespace skua::net {

// One that nobody has used is not known to the system yet.
TcpStream::~TcpStream() { const Socket unused(descriptor()); }

Address TcpStream::peer() const { return peer_address(descriptor()); }

Address TcpStream::local() const { return local_address(descriptor()); }

}  // namespace skua::net
