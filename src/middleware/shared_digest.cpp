// SPDX-License-Identifier: MIT
// In: a request. Out: 401, unless it proves the password, and the proof is new to all servers. The
// server's own counts come first; they decide alone while the store does not answer.
#include "skua/shared_digest.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "loop/clock.hpp"
#include "middleware/digest.hpp"
#include "middleware/store_pause.hpp"

namespace skua::auth {
namespace {

constexpr std::size_t min_key_bytes = 32;

/// The time of day: machines know no other time that they share.
class WallClock final : public loop::Clock {
 public:
  [[nodiscard]] loop::Instant now() const noexcept override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return loop::Instant(std::chrono::duration_cast<Duration>(since));
  }
  [[nodiscard]] bool passes_by_itself() const noexcept override { return true; }
};

}  // namespace

struct SharedDigest::Shared {
  Shared(DigestOptions options, const std::string& key, std::shared_ptr<SharedTexts> store)
      : verifier(std::move(options), std::make_unique<WallClock>(), key), texts(std::move(store)) {}

  // A clock may be behind by an age, and its server accepts a nonce for so much longer.
  [[nodiscard]] Duration lifetime() const noexcept {
    const Duration age = verifier.nonce_age();
    return age > Duration::max() / 2 ? Duration::max() : 2 * age;
  }

  const middleware::DigestVerifier verifier;
  const std::shared_ptr<SharedTexts> texts;  // shared with others
  middleware::StorePause pause;
};

SharedDigest::SharedDigest(DigestOptions options, const std::string& key,
                           std::shared_ptr<SharedTexts> texts) {
  if (key.size() < min_key_bytes) {
    throw std::invalid_argument("auth: shared_digest needs a key of at least 32 bytes");
  }
  if (texts == nullptr) throw std::invalid_argument("auth: shared_digest needs a store");
  shared_ = std::make_shared<Shared>(std::move(options), key, std::move(texts));
}

Task<Response> SharedDigest::operator()(Request& request, Next next) const {
  return run(shared_, request, next);
}

Task<Response> SharedDigest::run(std::shared_ptr<Shared> shared, Request& request, Next next) {
  middleware::DigestVerifier::Verdict verdict = shared->verifier.judge(request);
  if (verdict.needs_content) {
    co_await request.load();
    verdict = shared->verifier.judge(request, true);
  }
  if (verdict.refusal) co_return *std::move(verdict.refusal);
  if (shared->pause.asks()) {
    const SharedTexts::Found known =
        co_await shared->texts->add("digest:" + verdict.proof, "1", shared->lifetime());
    shared->pause.note(known.has_value());
    if (known && *known) co_return shared->verifier.challenge(true);
  }
  request.attachments().set(User{std::move(verdict.user)});
  Response response = co_await next(request);
  co_return response;
}

SharedDigest shared_digest(DigestOptions options, const std::string& key,
                           std::shared_ptr<SharedTexts> texts) {
  return {std::move(options), key, std::move(texts)};
}

}  // namespace skua::auth
