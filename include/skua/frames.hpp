// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "skua/response.hpp"

namespace skua {

namespace detail {
class FrameHub;
}  // namespace detail

/// How frames stand in a response.
enum class FrameFormat : std::uint8_t {
  Raw,           ///< one after the other, with FrameOptions::separator behind each
  MixedReplace,  ///< parts of multipart/x-mixed-replace: an image that browsers replace (MJPEG)
};

/// What is done about a client that is slower than the frames.
enum class SlowClient : std::uint8_t {
  DropFrames,  ///< it misses the oldest of those that wait for it
  Disconnect,  ///< its stream ends
};

/// How frames reach clients.
struct FrameOptions {
  FrameFormat format = FrameFormat::MixedReplace;
  std::string type = "image/jpeg";  ///< of each frame; of the whole stream when Raw
  std::string separator{};          ///< behind each frame; Raw only
  bool base64 = false;              ///< each frame in base64, for receivers that want text
  SlowClient slow_client = SlowClient::DropFrames;
  std::size_t frames = 4;    ///< that wait for one client; at least one
  bool repeats_last = true;  ///< a new client gets the last frame at once
};

/// One source of frames (pictures of a camera, lines of a log) for any number of clients, on any
/// number of threads: each frame is framed once and shared.
///
/// ```cpp
/// skua::FrameSource camera;
/// router.get("/camera", [&camera] { return camera.stream(); });
/// camera.publish(jpeg);  // from any thread
/// ```
/// A server that drains ends the streams.
class FrameSource final {
 public:
  /// Ends with: std::invalid_argument for a type that no field can have.
  explicit FrameSource(FrameOptions options = {});
  FrameSource(const FrameSource&) = delete;
  FrameSource& operator=(const FrameSource&) = delete;
  /// Ends all streams.
  ~FrameSource();

  /// Sends a frame to all clients; it does not wait for them. Any thread.
  void publish(std::string_view frame);
  /// Ends all streams when they have sent what waits. Any thread.
  void close() noexcept;
  /// How many clients are there. Any thread.
  [[nodiscard]] std::size_t clients() const noexcept;

  /// A response whose content are the frames from now on, until the client goes. Any thread.
  [[nodiscard]] Response stream() const;

 private:
  std::shared_ptr<detail::FrameHub> hub_;  // shared with the streams, which may outlive us
};

}  // namespace skua
