// SPDX-License-Identifier: MIT
// In: the events of the kernel, each for a watched folder and a name in it. Out: paths that have
// changed. A folder is watched before its names are read, so nothing is missed in between, and some
// changes are found twice. Systems other than Linux have a PolledFolder in place of the events.
#include "serve/watch/folder_changes.hpp"

#if defined(__linux__)
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "base/disk.hpp"

namespace skua::cli {
namespace {

namespace fs = std::filesystem;
using disk::Descriptor;
using disk::FileKind;

// Not IN_MODIFY: a page is shown once it is written, not at each piece of it.
constexpr std::uint32_t watched_events = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                         IN_MOVED_TO | IN_ONLYDIR | IN_EXCL_UNLINK;

// The kernel's limits are for all programs of a user.
Problem problem_of(const Error& error) {
  std::string limit;
  if (error.system_code() == EMFILE) limit = "fs.inotify.max_user_instances=512";
  if (error.system_code() == ENOSPC) limit = "fs.inotify.max_user_watches=524288";
  if (limit.empty()) return Problem::from(error);
  return {error,
          "--watch: other programs watch as many files as this user may\n"
          "End some of them, or raise the limit: sysctl -w " +
              limit};
}

Problem last_problem() { return problem_of(Error::from_system(errno, "--watch")); }

}  // namespace

struct FolderChanges::Impl {
  std::string folder{};
  files::PathPolicy policy{};
  Descriptor events{};
  Descriptor stop_reader{};
  Descriptor stop_writer{};
  // The watched folders, by the kernel's numbers and by their paths: `` and such as `a/b/`.
  std::map<int, std::string> paths{};
  std::map<std::string, int> numbers{};
  bool is_limit_ours = false;
  bool is_limited = false;

  Result<void> watch(const std::string& path);
  void forget(std::map<int, std::string>::iterator known);
  void watch_all(std::string path, Burst* found);
  void watch_entries(const std::string& path, std::vector<std::string>& folders, Burst* found);
  void forget_all(const std::string& path);
  void take(const inotify_event& event, Burst& burst);
  void take_folder(const std::string& path, std::uint32_t what, Burst& burst);
  [[nodiscard]] bool is_written_later(const std::string& path) const;
  void read_events(Burst& burst);
};

// Watches one folder. A folder that was moved keeps its number.
Result<void> FolderChanges::Impl::watch(const std::string& path) {
  if (paths.size() >= watched_at_most) {
    is_limited = is_limit_ours = true;
    return Error(Errc::Overloaded, "--watch");
  }
  const std::uint32_t what = watched_events | (path.empty() ? 0U : IN_DONT_FOLLOW);
  // The slash at its end would follow a link.
  const std::string place = folder + "/" + path.substr(0, path.empty() ? 0 : path.size() - 1);
  const int number = ::inotify_add_watch(events.number(), place.c_str(), what);
  if (number < 0) {
    if (errno == ENOSPC) is_limited = true;
    return Error::from_system(errno, "--watch");
  }
  if (const auto known = paths.find(number); known != paths.end()) {
    if (known->second == path) return {};
    numbers.erase(known->second);
  }
  paths.insert_or_assign(number, path);
  numbers.insert_or_assign(path, number);
  return {};
}

void FolderChanges::Impl::forget(std::map<int, std::string>::iterator known) {
  const auto number = numbers.find(known->second);
  if (number != numbers.end() && number->second == known->first) numbers.erase(number);
  paths.erase(known);
}

// Watches a folder and all below it; adds the files that are there to `found`, unless it is null.
void FolderChanges::Impl::watch_all(std::string path, Burst* found) {
  std::vector<std::string> folders;
  folders.push_back(std::move(path));
  while (!folders.empty()) {
    const std::string next = std::move(folders.back());
    folders.pop_back();
    if (watch(next)) watch_entries(next, folders, found);
  }
}

void FolderChanges::Impl::watch_entries(const std::string& path, std::vector<std::string>& folders,
                                        Burst* found) {
  std::error_code error;
  fs::directory_iterator entry(folder + "/" + path, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!is_watched_name(name, policy)) continue;
    std::error_code unknown;
    if (entry->symlink_status(unknown).type() == fs::file_type::directory) {
      folders.push_back(path + name + "/");
    }
    if (found != nullptr) found->add(path + name, Burst::Event::Appeared);
  }
}

void FolderChanges::Impl::forget_all(const std::string& path) {
  for (auto known = numbers.lower_bound(path);
       known != numbers.end() && known->first.starts_with(path);) {
    ::inotify_rm_watch(events.number(), known->second);
    paths.erase(known->second);
    known = numbers.erase(known);
  }
}

// A new file is mostly empty, and told of again once it has been written. A link is not.
bool FolderChanges::Impl::is_written_later(const std::string& path) const {
  const Result<disk::FileStat> stat = disk::stat_of_link(folder + "/" + path);
  if (!stat) return true;
  std::error_code error;
  const bool is_only_name = fs::hard_link_count(folder + "/" + path, error) == 1;
  return stat->kind == FileKind::Regular && stat->size_bytes == 0 && is_only_name;
}

void FolderChanges::Impl::take_folder(const std::string& path, std::uint32_t what, Burst& burst) {
  if ((what & (IN_MOVED_FROM | IN_DELETE)) != 0) {
    forget_all(path + "/");
    burst.add(path, Burst::Event::Vanished);
  } else if ((what & (IN_CREATE | IN_MOVED_TO)) != 0) {
    burst.add(path, Burst::Event::Appeared);
    watch_all(path + "/", &burst);
  }
}

void FolderChanges::Impl::take(const inotify_event& event, Burst& burst) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    burst.add_unknown();
    return watch_all("", nullptr);
  }
  const auto known = paths.find(event.wd);
  if (known == paths.end()) return;
  if ((event.mask & IN_IGNORED) != 0) return forget(known);
  const std::string_view name = event.len == 0 ? "" : static_cast<const char*>(event.name);
  if (name.empty() || !is_watched_name(name, policy)) return;
  const std::string path = known->second + std::string(name);
  if ((event.mask & IN_ISDIR) != 0) return take_folder(path, event.mask, burst);
  Burst::Event what = Burst::Event::Changed;
  if ((event.mask & (IN_MOVED_FROM | IN_DELETE)) != 0) what = Burst::Event::Vanished;
  if ((event.mask & IN_CREATE) != 0) {
    what = is_written_later(path) ? Burst::Event::Begun : Burst::Event::Appeared;
  }
  burst.add(path, what);
}

void FolderChanges::Impl::read_events(Burst& burst) {
  alignas(inotify_event) std::array<char, 65'536> buffer;
  const ssize_t size = ::read(events.number(), buffer.data(), buffer.size());
  const char* at = buffer.data();
  const char* const end = at + (size > 0 ? size : 0);
  while (at < end) {
    const auto* const event = reinterpret_cast<const inotify_event*>(at);
    take(*event, burst);
    at += sizeof(inotify_event) + event->len;
  }
}

FolderChanges::FolderChanges(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

FolderChanges::~FolderChanges() = default;

Result<std::unique_ptr<FolderChanges>, Problem> FolderChanges::open(
    const std::string& folder, const files::PathPolicy& policy) {
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  impl->policy = policy;
  impl->events = Descriptor(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!impl->events) return last_problem();
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return last_problem();
  impl->stop_reader = Descriptor(ends[0]);
  impl->stop_writer = Descriptor(ends[1]);
  if (const auto watched = impl->watch(""); !watched) return problem_of(watched.error());
  impl->watch_all("", nullptr);
  return std::unique_ptr<FolderChanges>(new FolderChanges(std::move(impl)));
}

std::string FolderChanges::text() const {
  if (!impl_->is_limited) return "at once";
  const std::string count = std::to_string(impl_->paths.size());
  if (impl_->is_limit_ours) return "at once, but only in the first " + count + " folders";
  return "at once, but only in " + count +
         " folders: that is the limit of fs.inotify.max_user_watches\nRaise it: sysctl -w "
         "fs.inotify.max_user_watches=524288";
}

bool FolderChanges::wait(Burst& burst, std::chrono::milliseconds patience) {
  std::array<pollfd, 2> wanted{
      pollfd{.fd = impl_->events.number(), .events = POLLIN, .revents = 0},
      pollfd{.fd = impl_->stop_reader.number(), .events = POLLIN, .revents = 0}};
  ::poll(wanted.data(), wanted.size(), static_cast<int>(patience.count()));
  if (wanted[1].revents != 0) return false;
  if (wanted[0].revents != 0) impl_->read_events(burst);
  return true;
}

void FolderChanges::stop() noexcept { (void)!::write(impl_->stop_writer.number(), "", 1); }

}  // namespace skua::cli

#else
#include <utility>

#include "serve/watch/polled_folder.hpp"

namespace skua::cli {

struct FolderChanges::Impl {
  PolledFolder folder;
};

FolderChanges::FolderChanges(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

FolderChanges::~FolderChanges() = default;

Result<std::unique_ptr<FolderChanges>, Problem> FolderChanges::open(
    const std::string& folder, const files::PathPolicy& policy) {
  std::unique_ptr<Impl> impl(new Impl{PolledFolder(folder, policy)});
  return std::unique_ptr<FolderChanges>(new FolderChanges(std::move(impl)));
}

std::string FolderChanges::text() const { return impl_->folder.text(); }

bool FolderChanges::wait(Burst& burst, std::chrono::milliseconds patience) {
  return impl_->folder.wait(burst, patience);
}

void FolderChanges::stop() noexcept { impl_->folder.stop(); }

}  // namespace skua::cli

#endif
