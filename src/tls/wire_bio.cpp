// SPDX-License-Identifier: MIT
// In: OpenSSL's reads and writes. Out: the engine's input and output. A read without input returns
// "retry" and a write always succeeds in full, so OpenSSL never blocks.
#ifdef SKUA_HAS_TLS

#include "tls/wire_bio.hpp"

#include <new>

namespace skua::tls {
namespace {

Engine& engine_of(BIO* bio) noexcept { return *static_cast<Engine*>(BIO_get_data(bio)); }

int read(BIO* bio, char* into, int count) noexcept {
  BIO_clear_retry_flags(bio);
  Engine& engine = engine_of(bio);
  if (engine.is_flooded() || count <= 0) return -1;
  const std::size_t taken = engine.take_input(into, static_cast<std::size_t>(count));
  if (taken > 0) return static_cast<int>(taken);
  BIO_set_retry_read(bio);
  return -1;
}

int write(BIO* bio, const char* data, int count) noexcept {
  BIO_clear_retry_flags(bio);
  try {
    engine_of(bio).output().append(data, static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return count;
}

long control(BIO*, int command, long, void*) noexcept { return command == BIO_CTRL_FLUSH ? 1 : 0; }

int create(BIO* bio) noexcept {
  BIO_set_init(bio, 1);
  return 1;
}

using Method = std::unique_ptr<BIO_METHOD, FreeBy<BIO_meth_free>>;

Method make_method() {
  Method method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "skua engine"));
  if (!method) throw std::bad_alloc();
  BIO_meth_set_read(method.get(), read);
  BIO_meth_set_write(method.get(), write);
  BIO_meth_set_ctrl(method.get(), control);
  BIO_meth_set_create(method.get(), create);
  return method;
}

}  // namespace

BioPointer make_wire_bio(Engine& engine) {
  static const Method method = make_method();
  BioPointer bio(BIO_new(method.get()));
  if (!bio) throw std::bad_alloc();
  BIO_set_data(bio.get(), &engine);
  return bio;
}

}  // namespace skua::tls

#endif
