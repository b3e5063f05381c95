// SPDX-License-Identifier: MIT
// The parts of the command that differ between systems: arguments, standard input and output, and
// terminals.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace skua::cli {

// The descriptors of the C library.
inline constexpr int standard_input = 0;
inline constexpr int standard_output = 1;
inline constexpr int standard_error = 2;

/// The first call of the program: holds closed standard descriptors, which a socket or file would
/// take otherwise, makes writes to a closed pipe fail instead of ending the program, and prepares a
/// console for UTF-8 and colours.
void prepare_process() noexcept;

/// Returns the arguments in UTF-8, with the program's name first.
std::vector<std::string> arguments_of(int count, char** arguments);

/// The signals by which a person or a supervisor ends the command.
inline constexpr std::array<int, 2> ending_signals = {SIGINT, SIGTERM};

/// Reports whether a descriptor is a terminal.
bool is_terminal(int descriptor) noexcept;

/// Returns the terminal's width, or 80 if it is unknown.
std::size_t terminal_columns(int descriptor) noexcept;

/// Reports whether a descriptor takes output at once: a terminal may be stopped by Ctrl-S.
bool can_write(int descriptor) noexcept;

/// Reports whether this process may use the terminal now: the shell has not put it into the
/// background.
bool is_in_foreground(int terminal) noexcept;

/// Writes everything.
/// Ends with: std::system_error.
void write_all(int descriptor, std::string_view text);

/// Opens a device or pipe for writing; a pipe waits for its reader. Sets errno and returns -1 on
/// failure.
int open_output(const std::string& path) noexcept;

/// Reports whether a path leads to the file that a descriptor is, as /dev/stdout does.
bool is_same_file(const std::string& path, int descriptor) noexcept;

/// Waits until standard input can be read, or has ended. Returns false after `patience` (negative:
/// without a limit), or if the socket `stop` becomes readable or hangs up before. On a Windows
/// console a read may still wait for the end of a line.
bool wait_for_input(std::chrono::milliseconds patience, int stop = -1) noexcept;

/// Reports whether standard input is a file or pipe with unread data.
bool has_unread_input() noexcept;

/// Returns the names of the environment's variables that begin so.
std::vector<std::string> environment_names(std::string_view prefix);

/// Returns the folder of the user's settings for skua; empty if the user has none.
std::string settings_folder();

/// Creates a folder that only its owner can enter, and those above it. Sets errno and returns false
/// on failure.
bool make_private_folder(const std::string& path);

/// Returns the path without links; unchanged if there is no such file, or no need.
std::string resolved(const std::string& path);

}  // namespace skua::cli
