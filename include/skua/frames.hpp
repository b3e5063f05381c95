// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "skua/config.hpp"
#include "skua/response.hpp"

namespace skua {

namespace detail {
class FrameHub;
}  // namespace detail

/// The format of frames in a response.
enum class FrameFormat : std::uint8_t {
  Raw,           ///< each followed by FrameOptions::separator
  MixedReplace,  ///< parts of multipart/x-mixed-replace: an image that browsers replace (MJPEG)
};

/// The policy for a client that is slower than the frames.
enum class SlowClient : std::uint8_t {
  DropFrames,  ///< it misses its oldest queued frames
  Disconnect,  ///< it is cut off at once, with what still waits for it
};

/// Options of a FrameSource.
struct FrameOptions {
  FrameFormat format = FrameFormat::MixedReplace;
  std::string type = "image/jpeg";  ///< of each frame; of the whole stream when Raw
  std::string separator{};          ///< after each frame; Raw only
  bool base64 = false;              ///< encodes each frame, for receivers that need text
  SlowClient slow_client = SlowClient::DropFrames;
  std::size_t frames = 4;    ///< queued per client; at least one
  bool repeats_last = true;  ///< a new client gets the last frame at once
};

/// A source of frames (camera pictures, log lines) for any number of clients, on any number of
/// threads; each frame is formatted once and shared.
///
/// ```cpp
/// skua::FrameSource camera;
/// router.get("/camera", [&camera] { return camera.stream(); });
/// camera.publish(jpeg);  // from any thread
/// ```
/// The streams end when the server drains.
class SKUA_API FrameSource final {
 public:
  /// Ends with: std::invalid_argument for a type that is not a valid field value.
  explicit FrameSource(FrameOptions options = {});
  FrameSource(const FrameSource&) = delete;
  FrameSource& operator=(const FrameSource&) = delete;
  /// Ends all streams.
  ~FrameSource();

  /// Sends a frame to all clients without waiting for them. Any thread.
  void publish(std::string_view frame);
  /// Ends all streams once they have sent their queued frames; those of parts with their closing
  /// boundary, after the last frame once more. Any thread.
  void close() noexcept;
  /// The number of clients. Any thread.
  [[nodiscard]] std::size_t clients() const noexcept;

  /// Returns a response that streams frames from now on, until the client goes. Any thread.
  [[nodiscard]] Response stream() const;

 private:
  std::shared_ptr<detail::FrameHub> hub_;  // shared with the streams, which may outlive this
};

}  // namespace skua
