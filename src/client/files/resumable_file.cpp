// SPDX-License-Identifier: MIT
// The origin is written before the first byte of the part and removed after the last, so that a
// part is never mistaken for one of other content. A lock on the part shows that it is in use.
#include "client/files/resumable_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/disk.hpp"
#include "base/http_date.hpp"
#include "files/save.hpp"

namespace skua::client {
namespace {

constexpr std::size_t max_origin_bytes = 16 * 1024;
constexpr std::string_view first_line = "skua download 1";
constexpr int max_numbers = 1000;  // of parts: downloads at the same time
constexpr int max_names = 100'000'000;

Error busy() noexcept { return Error::from_system(EBUSY, "another download"); }

std::string numbered(const std::string& path, int number) {
  return number == 0 ? path : path + "-" + std::to_string(number);
}

// Returns a number above that of a taken name which was free a moment ago: of names that were given
// in turn, the first. It looks further and further ahead, and then halves the gap, so that the cost
// grows with the digits of the number only.
int next_free(const std::string& path, int taken) {
  const auto is_taken = [&path](int number) {
    return disk::stat_of_link(numbered(path, number)).has_value();
  };
  int step = 1;
  while (taken < max_names && is_taken(taken + step)) {
    taken += step;
    step *= 2;
  }
  int vacant = taken + step;
  while (vacant - taken > 1) {
    const int middle = taken + (vacant - taken) / 2;
    if (is_taken(middle)) {
      taken = middle;
    } else {
      vacant = middle;
    }
  }
  return vacant;
}

std::string part_path_of(const std::string& path) {
  const std::size_t name = disk::name_begin(path);
  return path.substr(0, name) + "." + path.substr(name) + ".part";
}

std::string text_of(const PartOrigin& origin) {
  std::string text(first_line);
  text.append("\n").append(origin.url).append("\n").append(origin.validator).append("\n");
  if (origin.total_bytes) text += std::to_string(*origin.total_bytes);
  return text + "\n";
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return line;
}

std::optional<PartOrigin> parse_origin(std::string_view whole) {
  std::string_view text = whole;
  if (take_line(text) != first_line) return std::nullopt;
  PartOrigin origin;
  origin.url = take_line(text);
  origin.validator = take_line(text);
  const std::string_view total = take_line(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(total.data(), total.data() + total.size(), number);
  if (error == std::errc() && end == total.data() + total.size()) origin.total_bytes = number;
  // Rejects a file that was truncated, or that we did not write.
  return text_of(origin) == whole ? std::optional(std::move(origin)) : std::nullopt;
}

// It may be a FIFO without a writer.
std::optional<PartOrigin> read_origin(const std::string& path) {
  const disk::Descriptor file(disk::open(path.c_str(), disk::for_reading_own));
  if (!file) return std::nullopt;
  std::string text(max_origin_bytes, '\0');
  const auto size = disk::read(file.number(), text.data(), text.size());
  if (size <= 0) return std::nullopt;
  return parse_origin(std::string_view(text).substr(0, static_cast<std::size_t>(size)));
}

// The server's validator is sent back in a field, so it must be a valid value.
bool is_usable(const PartOrigin& origin) {
  const bool is_field = std::ranges::none_of(origin.validator, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
  return is_field && !origin.validator.empty() && text_of(origin).size() < max_origin_bytes;
}

}  // namespace

std::string origin_url(const Url& url) {
  Url bare = url;
  const bool is_bare = bare.set_userinfo("") && bare.set_fragment(std::nullopt);
  return is_bare ? bare.to_string() : "";
}

ResumableFile::ResumableFile(const std::string& path, Options options)
    : path_(path), first_path_(path), options_(options) {
  number_part(0);
}

void ResumableFile::number_part(int number) {
  part_ = part_path_of(numbered(first_path_, number));
  origin_path_ = part_ + ".origin";
}

Error ResumableFile::failure(const std::string& culprit, const char* call) noexcept {
  return failure(culprit, Error::from_system(errno, call));
}

Error ResumableFile::failure(const std::string& culprit, Error error) noexcept {
  culprit_ = &culprit;
  return error;
}

void ResumableFile::give_up() noexcept {
  if (descriptor_ < 0) return;
  if (is_ours_ && !can_be_resumed()) {
    disk::unlink(origin_path_.c_str());
    disk::unlink(part_.c_str());
  }
  disk::close(std::exchange(descriptor_, -1));
}

Result<void> ResumableFile::look(std::string_view url) {
  const Result<bool> opened = open_next(0);
  if (!opened) return opened.error();
  if (!*opened) {
    look_for_whole();
    return {};
  }
  auto origin = read_origin(origin_path_);
  const bool is_other = !url.empty() && origin && origin->url != url;
  if (!origin || is_other || !is_usable(*origin) || size_bytes_ == 0) return {};
  origin_ = *std::move(origin);
  found_ = Found::Part;
  return {};
}

// keep() gave the file the server's time: another file is unlikely to share its time and size.
void ResumableFile::look_for_whole() {
  const Result<disk::FileStat> whole = disk::stat_of_link(path_);
  if (!whole || whole->kind != disk::FileKind::Regular || whole->size_bytes == 0) return;
  const auto modified =
      std::chrono::floor<std::chrono::seconds>(std::chrono::sys_time<std::chrono::nanoseconds>(
          std::chrono::nanoseconds(whole->modified_ns)));
  std::array<char, http_date_bytes> date{};
  format_http_date(modified, date);
  origin_.validator.assign(date.data(), date.size());
  size_bytes_ = whole->size_bytes;
  found_ = Found::Whole;
}

// Opens and locks the part. Returns false if it does not exist.
Result<bool> ResumableFile::open(int flags) noexcept {
  descriptor_ = disk::open(part_.c_str(), flags | disk::for_appending, 0666);
  if (descriptor_ < 0 && errno == ENOENT && (flags & O_CREAT) == 0) return false;
  if (descriptor_ < 0) return failure(part_, "open");
  if (!disk::lock(descriptor_)) return busy();
  const Result<disk::FileStat> opened = disk::stat_of(descriptor_);
  if (!opened) return failure(part_, opened.error());
  const Result<disk::FileStat> named = disk::stat_of_link(part_);
  const bool is_ours = named && opened->device == named->device && opened->inode == named->inode;
  if (!is_ours) return busy();  // it was renamed between our calls
  if (opened->kind != disk::FileKind::Regular) {
    return Error(Errc::Unsupported, "a part that is not a plain file");
  }
  size_bytes_ = opened->size_bytes;
  return true;
}

Result<bool> ResumableFile::open_next(int flags) {
  Result<bool> opened = open(flags);
  for (int number = 1; number < max_numbers; ++number) {
    const bool is_busy = !opened && opened.error().system_code() == EBUSY;
    if (!is_busy || !options_.never_replace) break;
    give_up();
    number_part(number);
    opened = open(flags);
  }
  if (!opened) give_up();
  return opened;
}

Result<void> ResumableFile::start(PartOrigin origin) {
  if (descriptor_ < 0) {
    const Result<bool> opened = open_next(O_CREAT);
    if (!opened) return opened.error();
  }
  is_ours_ = true;
  origin_ = PartOrigin();
  disk::unlink(origin_path_.c_str());
  if (disk::ftruncate(descriptor_, 0) != 0) return failure(part_, "ftruncate");
  size_bytes_ = 0;
  if (!is_usable(origin)) origin.validator.clear();
  origin_ = std::move(origin);
  return origin_.validator.empty() ? Result<void>() : write_origin();
}

Result<void> ResumableFile::write_origin() {
  culprit_ = &origin_path_;
  files::PartialFile file;
  if (auto created = file.create(origin_path_, 0600); !created) return created;
  if (auto written = file.write(text_of(origin_)); !written) return written;
  return file.keep_as(origin_path_);
}

Result<void> ResumableFile::write(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto count = disk::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(part_, "write");
    text.remove_prefix(static_cast<std::size_t>(count));
    size_bytes_ += static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<void> ResumableFile::keep() {
  if (disk::finish_writes(descriptor_) != 0) return failure(part_, "close");
  if (modified_) disk::set_modified(descriptor_, *modified_);
  if (const Result<void> named = take_name(); !named) return named;
  disk::unlink(origin_path_.c_str());
  disk::close(std::exchange(descriptor_, -1));
  return {};
}

Result<void> ResumableFile::take_name() {
  if (!options_.never_replace) {
    if (disk::rename(part_.c_str(), path_.c_str()) != 0) return failure(path_, "rename");
    return {};
  }
  for (int number = 0; number < max_names; number = next_free(path_, number)) {
    std::string name = numbered(path_, number);
    if (disk::rename_beside(part_, name) == 0) {
      path_ = std::move(name);
      return {};
    }
    if (errno != EEXIST) break;
  }
  return failure(path_, "rename");
}

}  // namespace skua::client
