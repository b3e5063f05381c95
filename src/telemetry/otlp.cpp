// SPDX-License-Identifier: MIT
// In: spans, from the threads of servers. Out: requests to a collector, from a thread that alone
// waits for it. What cannot be sent is dropped: traces must not cost a program its memory.
#include "skua/otlp.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "async/guarded.hpp"
#include "loop/clock.hpp"
#include "skua/background_client.hpp"
#include "skua/url.hpp"
#include "telemetry/otlp_json.hpp"

namespace skua {
namespace {

// A collector may never answer, so the end of the exporter has a deadline of its own.
constexpr Duration end_patience = std::chrono::seconds(2);

}  // namespace

struct OtlpExporter::Impl {
  using Answer = BackgroundClient::Answer;

  explicit Impl(OtlpOptions told) : options(std::move(told)), client(options.client) {
    if (!Url::parse(options.url)) {
      throw std::invalid_argument("OtlpExporter: '" + options.url + "' is no URL");
    }
    thread = std::thread([this] { run(); });
  }

  void run() noexcept;
  bool wait_for_batch() noexcept;
  void send();
  [[nodiscard]] Answer answer_to(std::string content);
  void lose(std::size_t count, std::string_view why) noexcept;

  const OtlpOptions options;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<Span> queue;  // guarded by mutex, like the next
  std::uint64_t lost = 0;
  bool is_ending = false;
  std::chrono::steady_clock::time_point ends_by{};  // once it is ending
  std::optional<Answer> answer{};                   // to the request that was sent
  std::vector<Span> batch;                          // only the thread uses it, and the next
  bool has_complained = false;                      // since the last success
  BackgroundClient client;
  std::thread thread;
};

OtlpExporter::OtlpExporter(OtlpOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

OtlpExporter::~OtlpExporter() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->is_ending = true;
    impl_->ends_by = later(std::chrono::steady_clock::now(), end_patience);
    impl_->changed.notify_one();
  }
  impl_->thread.join();
}

void OtlpExporter::add(Span span) noexcept {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->queue.size() >= impl_->options.queue_spans) {
    ++impl_->lost;
    return;
  }
  try {
    impl_->queue.push_back(std::move(span));
  } catch (const std::bad_alloc&) {
    ++impl_->lost;
    return;
  }
  if (impl_->queue.size() == impl_->options.batch_spans) impl_->changed.notify_one();
}

std::uint64_t OtlpExporter::lost_count() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->lost;
}

void OtlpExporter::Impl::run() noexcept {
  bool goes_on = true;
  while (goes_on) {
    goes_on = wait_for_batch();
    async::guarded([this] { send(); },
                   [this](std::string_view why) noexcept { lose(batch.size(), why); });
    batch.clear();
  }
}

// Returns false if no more will come.
bool OtlpExporter::Impl::wait_for_batch() noexcept {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, options.interval,
                   [this] { return is_ending || queue.size() >= options.batch_spans; });
  batch.swap(queue);
  return !is_ending;
}

void OtlpExporter::Impl::send() {
  if (batch.empty()) return;
  const Answer sent = answer_to(telemetry::otlp_json(options, batch));
  if (!sent) return lose(batch.size(), sent.error().text);
  if (code(sent->status) / 100 != 2) {
    return lose(batch.size(), "the server answered " + std::to_string(code(sent->status)));
  }
  has_complained = false;
}

OtlpExporter::Impl::Answer OtlpExporter::Impl::answer_to(std::string content) {
  std::stop_source stop;  // NOLINT(misc-const-correctness): libc++ lets no constant one stop
  client.send([this, content = std::move(content)](
                  Client& its) { return its.post(options.url).body(content, "application/json"); },
              [this](Answer got) {
                const std::lock_guard lock(mutex);
                answer = std::move(got);
                changed.notify_one();
              },
              stop.get_token());
  const auto is_answered = [this] { return answer.has_value(); };
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return is_answered() || is_ending; });
  if (!changed.wait_until(lock, ends_by, is_answered)) {
    lock.unlock();
    stop.request_stop();
    lock.lock();
    changed.wait(lock, is_answered);
  }
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it has been waited for
  Answer got = *std::move(answer);
  answer.reset();
  return got;
}

void OtlpExporter::Impl::lose(std::size_t count, std::string_view why) noexcept {
  {
    const std::lock_guard lock(mutex);
    lost += count;
  }
  if (std::exchange(has_complained, true) || !options.on_problem) return;
  async::guarded(
      [&] { options.on_problem("spans are lost: " + options.url + ": " + std::string(why)); });
}

}  // namespace skua
