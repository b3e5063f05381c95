// SPDX-License-Identifier: MIT
// In: spans, from the threads of servers. Out: requests to a collector, from a thread that alone
// waits for it. What cannot be sent is dropped: traces must not cost a program its memory.
#include "skua/otlp.hpp"

#include <condition_variable>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "skua/blocking.hpp"
#include "skua/url.hpp"
#include "telemetry/otlp_json.hpp"

namespace skua {

struct OtlpExporter::Impl {
  explicit Impl(OtlpOptions told) : options(std::move(told)) {
    if (!Url::parse(options.url)) {
      throw std::invalid_argument("OtlpExporter: '" + options.url + "' is no URL");
    }
    thread = std::thread([this] { run(); });
  }

  void run() noexcept;
  bool wait_for_batch();
  void send();
  void lose(std::size_t count, const std::string& why);

  const OtlpOptions options;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<Span> queue;  // guarded by mutex, like the next
  std::uint64_t lost = 0;
  bool is_ending = false;
  std::vector<Span> batch;      // only the thread uses it, and the next
  bool has_complained = false;  // since the last success
  std::thread thread;
};

OtlpExporter::OtlpExporter(OtlpOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

OtlpExporter::~OtlpExporter() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->is_ending = true;
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
    try {
      goes_on = wait_for_batch();
      send();
    } catch (const std::exception& error) {
      lose(batch.size(), error.what());
    }
    batch.clear();
  }
}

// Returns false if no more will come.
bool OtlpExporter::Impl::wait_for_batch() {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, options.interval,
                   [this] { return is_ending || queue.size() >= options.batch_spans; });
  batch.swap(queue);
  return !is_ending;
}

void OtlpExporter::Impl::send() {
  if (batch.empty()) return;
  std::string content = telemetry::otlp_json(options, batch);
  const auto sent =
      blocking::post(options.url, std::move(content), "application/json", options.client);
  if (!sent) return lose(batch.size(), sent.error().text);
  has_complained = false;
}

void OtlpExporter::Impl::lose(std::size_t count, const std::string& why) {
  {
    const std::lock_guard lock(mutex);
    lost += count;
  }
  if (std::exchange(has_complained, true) || !options.on_problem) return;
  options.on_problem("spans are lost: " + options.url + ": " + why);
}

}  // namespace skua
