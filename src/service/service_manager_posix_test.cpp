// SPDX-License-Identifier: MIT
#include "skua/service_manager.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include "net/socket.hpp"
#include "skua/address.hpp"

namespace skua {
namespace {

/// A manager that listens at a name, for the variable NOTIFY_SOCKET.
class Manager {
 public:
  explicit Manager(const std::string& name) : name_(name) {
    const bool is_abstract = name.starts_with('@');
    const Address address =
        (is_abstract ? Address::unix_abstract(name.substr(1)) : Address::unix_path(name)).value();
    socket_ = net::create_socket(address.family(), SOCK_DGRAM).value();
    EXPECT_EQ(::bind(socket_.descriptor(), address.data(), address.size_bytes()), 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() {
    if (!name_.starts_with('@')) ::unlink(name_.c_str());
  }

  /// The next message; empty if there is none.
  std::string next() {
    std::array<char, 4096> buffer;
    const ssize_t count = ::recv(socket_.descriptor(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }
  void close() { socket_.close(); }

 private:
  std::string name_;
  Socket socket_;
};

std::string abstract_name() { return "@skua-notify-" + std::to_string(::getpid()); }

TEST(ServiceManager, IsAbsentWithoutTheVariables) {
  ::unsetenv("NOTIFY_SOCKET");
  ServiceManager manager;
  EXPECT_FALSE(manager.is_present());
  EXPECT_FALSE(manager.problem());
  EXPECT_EQ(manager.watchdog(), Duration::zero());
  EXPECT_TRUE(manager.variables().empty());
  manager.ready();  // has no effect, like the others
  manager.status("none");
  manager.stopping();
}

TEST(ServiceManager, IsToldWhatHappens) {
  for (const std::string& name :
       {abstract_name(), ::testing::TempDir() + "skua-notify-" + std::to_string(::getpid())}) {
    Manager listener(name);
    ServiceManager manager;
    ASSERT_TRUE(manager.is_present()) << name;
    EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
    EXPECT_EQ(manager.variables(), (std::vector<std::string>{"NOTIFY_SOCKET=" + name}));
    manager.ready();
    EXPECT_EQ(listener.next(), "READY=1");
    manager.status("two\nlines");
    EXPECT_EQ(listener.next(), "STATUS=two lines");
    manager.reloading();
    const std::string reloading = listener.next();
    constexpr std::string_view begin = "RELOADING=1\nMONOTONIC_USEC=";
    EXPECT_TRUE(reloading.starts_with(begin)) << reloading;
    EXPECT_GT(std::stoull("0" + reloading.substr(begin.size())), 0U);
    manager.keep_alive();
    EXPECT_EQ(listener.next(), "WATCHDOG=1");
    manager.stopping();
    EXPECT_EQ(listener.next(), "STOPPING=1");
    manager.replaced_by(4711);
    EXPECT_EQ(listener.next(), "MAINPID=4711\nREADY=1");
    manager.stopping();
    EXPECT_EQ(listener.next(), "") << "this process is no longer the service";
  }
}

TEST(ServiceManager, MayGoAway) {
  Manager listener(abstract_name());
  ServiceManager manager;
  listener.close();
  manager.ready();
  EXPECT_TRUE(manager.is_present());
}

TEST(ServiceManager, ThatCannotBeReachedIsAProblem) {
  struct Row {
    const char* name;
    const char* text;
  };
  for (const Row& row : {Row{"/nowhere/notify", "could not notify /nowhere/notify: "},
                         Row{"vsock:2:1234", "could not notify vsock:2:1234: "},
                         Row{"@skua-nobody", "could not notify @skua-nobody: "}}) {
    ::setenv("NOTIFY_SOCKET", row.name, 1);
    ServiceManager manager;
    EXPECT_FALSE(manager.is_present());
    ASSERT_TRUE(manager.problem());
    EXPECT_TRUE(manager.problem()->text.starts_with(row.text)) << manager.problem()->text;
    manager.ready();
  }
}

Duration watchdog_of(const char* time, const char* process) {
  ::setenv("WATCHDOG_USEC", time, 1);
  if (process != nullptr) ::setenv("WATCHDOG_PID", process, 1);
  const ServiceManager manager;
  EXPECT_EQ(std::getenv("WATCHDOG_USEC"), nullptr);
  EXPECT_EQ(std::getenv("WATCHDOG_PID"), nullptr);
  return manager.watchdog();
}

TEST(ServiceManager, WatchesTheProcessThatIsMeant) {
  const std::string own = std::to_string(::getpid());
  EXPECT_EQ(watchdog_of("3000000", own.c_str()), 3s);
  EXPECT_EQ(watchdog_of("3000000", nullptr), 3s);
  EXPECT_EQ(watchdog_of("3000000", std::to_string(::getppid()).c_str()), 0s);
  EXPECT_EQ(watchdog_of("3000000", "x"), 0s);
  for (const char* const wrong :
       {"", "x", "-1", "1s", "9223372036854775807", "99999999999999999999"}) {
    EXPECT_EQ(watchdog_of(wrong, nullptr), 0s) << wrong;
  }
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  EXPECT_EQ(ServiceManager().variables(), (std::vector<std::string>{"WATCHDOG_USEC=3000000"}));
}

TEST(ServiceManager, TellsTheProcessThatHandsOver) {
  Manager listener(abstract_name());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Socket read_end(ends[0]);
  ::setenv("SKUA_READY", (std::to_string(ends[1]) + ":" + std::to_string(::getpid())).c_str(), 1);
  ServiceManager manager;
  EXPECT_TRUE(manager.is_successor());
  EXPECT_TRUE(manager.is_present());
  EXPECT_EQ(std::getenv("SKUA_READY"), nullptr);
  EXPECT_NE(::fcntl(ends[1], F_GETFD) & FD_CLOEXEC, 0);
  manager.ready();
  std::array<char, 64> said;
  EXPECT_EQ(
      std::string(said.data(), static_cast<std::size_t>(::read(ends[0], said.data(), said.size()))),
      "READY=1\n");
  EXPECT_EQ(::read(ends[0], said.data(), said.size()), 0) << "the pipe is closed";
  EXPECT_EQ(listener.next(), "") << "the other process tells the manager";
  manager.ready();
  EXPECT_EQ(listener.next(), "READY=1") << "after a reload";
}

TEST(ServiceManager, OutlivesAProcessThatHandsOver) {
  std::signal(SIGPIPE, SIG_DFL);  // which would end the process
  ::unsetenv("NOTIFY_SOCKET");
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::setenv("SKUA_READY", (std::to_string(ends[1]) + ":" + std::to_string(::getpid())).c_str(), 1);
  ServiceManager manager;
  ASSERT_TRUE(manager.is_successor());
  ::close(ends[0]);
  manager.ready();
  sigset_t blocked{};
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &blocked), 0);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
}

TEST(ServiceManager, TakesNoOtherDescriptorForAPipe) {
  const std::string own = std::to_string(::getpid());
  for (const std::string& text : {std::string("x"), std::string(":"), "0x:" + own, "-1:" + own,
                                  "99999:" + own, std::string("1:"), "1:" + own + "x"}) {
    ::setenv("SKUA_READY", text.c_str(), 1);
    const ServiceManager manager;
    EXPECT_FALSE(manager.is_successor()) << text;
    ASSERT_TRUE(manager.problem()) << text;
    EXPECT_EQ(manager.problem()->text, "SKUA_READY is malformed: \"" + text + "\"");
  }
  ::setenv("SKUA_READY", ("1:" + std::to_string(::getppid())).c_str(), 1);
  const ServiceManager manager;
  EXPECT_FALSE(manager.is_successor());
  EXPECT_FALSE(manager.problem()) << "for another process";
}

}  // namespace
}  // namespace skua
