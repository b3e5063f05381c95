// SPDX-License-Identifier: MIT
#include "system.hpp"

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <shellapi.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "base/disk.hpp"
#include "base/wide_text.hpp"
#include "loop/sockets.hpp"

namespace skua::cli {
namespace {

// No call of Windows waits for a pipe or a file and a socket together.
constexpr DWORD look_again_milliseconds = 20;

HANDLE handle_of(int descriptor) noexcept {
  return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
}

// Whether standard input can be read, or has ended.
bool is_input_ready(DWORD wait_milliseconds) noexcept {
  const HANDLE input = handle_of(standard_input);
  switch (::GetFileType(input)) {
    case FILE_TYPE_PIPE: {
      DWORD size_bytes = 0;
      const bool is_open = ::PeekNamedPipe(input, nullptr, 0, nullptr, &size_bytes, nullptr) != 0;
      if (!is_open || size_bytes > 0) return true;
      ::Sleep(wait_milliseconds);
      return false;
    }
    case FILE_TYPE_CHAR: return ::WaitForSingleObject(input, wait_milliseconds) == WAIT_OBJECT_0;
    default: return true;
  }
}

bool is_stopped(int stop) noexcept {
  if (stop < 0) return false;
  pollfd wanted{};
  wanted.fd = bsd::native(stop);
  wanted.events = POLLIN;
  return bsd::poll(&wanted, 1, 0) > 0;
}

}  // namespace

void prepare_process() noexcept {
  for (const int descriptor : {standard_input, standard_output, standard_error}) {
    // No line ends are translated: output may be a file's bytes.
    ::_setmode(descriptor, _O_BINARY);
    DWORD mode = 0;
    const HANDLE console = handle_of(descriptor);
    if (descriptor != standard_input && ::GetConsoleMode(console, &mode) != 0) {
      ::SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    }
  }
  ::SetConsoleOutputCP(CP_UTF8);
}

// The arguments of main() are in the code page of the system, which has few of Unicode's
// characters.
std::vector<std::string> arguments_of(int /*count*/, char** /*arguments*/) {
  int count = 0;
  const std::unique_ptr<LPWSTR, decltype(&::LocalFree)> wide(
      ::CommandLineToArgvW(::GetCommandLineW(), &count), &::LocalFree);
  std::vector<std::string> arguments;
  for (int i = 0; wide && i < count; ++i) arguments.push_back(base::narrow(wide.get()[i]));
  return arguments;
}

bool is_terminal(int descriptor) noexcept {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(descriptor), &mode) != 0;
}

std::size_t terminal_columns(int descriptor) noexcept {
  CONSOLE_SCREEN_BUFFER_INFO screen{};
  if (::GetConsoleScreenBufferInfo(handle_of(descriptor), &screen) == 0) return 80;
  return static_cast<std::size_t>(screen.srWindow.Right - screen.srWindow.Left + 1);
}

bool can_write(int /*descriptor*/) noexcept { return true; }

bool is_in_foreground(int /*terminal*/) noexcept { return true; }

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const std::ptrdiff_t count = disk::write(descriptor, text.data(), text.size());
    if (count <= 0) {
      throw std::system_error(errno, std::generic_category(), "cannot write the output");
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

int open_output(const std::string& path) noexcept {
  return disk::open(path.c_str(), O_WRONLY | disk::close_on_exec);
}

bool is_same_file(const std::string&, int) noexcept { return false; }

bool wait_for_input(std::chrono::milliseconds patience, int stop) noexcept {
  const auto begun = std::chrono::steady_clock::now();
  do {
    if (is_stopped(stop)) return false;
    if (is_input_ready(look_again_milliseconds)) return true;
  } while (patience.count() < 0 || std::chrono::steady_clock::now() - begun < patience);
  return false;
}

bool has_unread_input() noexcept {
  const HANDLE input = handle_of(standard_input);
  DWORD size_bytes = 0;
  switch (::GetFileType(input)) {
    case FILE_TYPE_PIPE:
      return ::PeekNamedPipe(input, nullptr, 0, nullptr, &size_bytes, nullptr) != 0 &&
             size_bytes > 0;
    case FILE_TYPE_DISK: {
      LARGE_INTEGER size{};
      LARGE_INTEGER place{};
      return ::GetFileSizeEx(input, &size) != 0 &&
             ::SetFilePointerEx(input, {}, &place, FILE_CURRENT) != 0 &&
             place.QuadPart < size.QuadPart;
    }
    default: return false;
  }
}

std::vector<std::string> environment_names(std::string_view prefix) {
  std::vector<std::string> names;
  for (char** one = _environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view text(*one);
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with(prefix)) names.emplace_back(name);
  }
  return names;
}

std::string settings_folder() {
  const wchar_t* const folder = ::_wgetenv(L"APPDATA");
  return folder != nullptr && *folder != 0 ? base::narrow(folder) + "/skua" : "";
}

// The folders below APPDATA are the user's own.
bool make_private_folder(const std::string& path) {
  for (std::size_t end = path.find_first_of("/\\", 3);; end = path.find_first_of("/\\", end + 1)) {
    const std::wstring one = base::widen(path.substr(0, end));
    if (::_wmkdir(one.c_str()) != 0 && errno != EEXIST) return false;
    if (end == path.npos) return true;
  }
}

std::string resolved(const std::string& path) { return path; }

}  // namespace skua::cli
