// SPDX-License-Identifier: MIT
#include "service/successor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "skua/address.hpp"
#include "skua/socket.hpp"

namespace skua::service {
namespace {

ListeningSocket listener(const char* name, bool owns_path = false) {
  auto socket = TcpSocket::listen_on(Address::loopback(Address::Family::Ipv4, 0)).value();
  return {std::make_shared<Socket>(std::move(socket)), name, owns_path};
}

Successor shell(const std::string& script) {
  return {.command = {"sh", "-c", script}, .deadline = std::chrono::seconds(60)};
}

/// The script becomes ready if the condition holds. The pipe is the descriptor after the sockets.
std::string ready_if(const std::string& condition, int pipe = 5) {
  return condition + " && echo READY=1 >&" + std::to_string(pipe) + " && exec sleep 1000";
}

std::string why_not(const Successor& successor) {
  const auto process = start(successor);
  return process ? "it was ready" : process.error().text;
}

bool is_left() { return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

void end(int process) {
  ::kill(process, SIGKILL);
  EXPECT_EQ(::waitpid(process, nullptr, 0), process);
}

TEST(Successor, GetsTheSocketsAndItsOwnId) {
  ::setenv("LISTEN_FDS", "7", 1);
  ::setenv("NOTIFY_SOCKET", "/old", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  ::setenv("KEPT", "yes", 1);
  Successor successor = shell(ready_if(
      R"sh(test "$LISTEN_PID $LISTEN_FDS $LISTEN_FDNAMES" = "$$ 4 :a_b:skua-own-x:skua-own" &&
           test "$SKUA_READY $NOTIFY_SOCKET $KEPT" = "7:$$ /new yes" && test -z "$WATCHDOG_PID" &&
           test -S /dev/fd/3 && test -S /dev/fd/6 && test -p /dev/fd/7)sh",
      7));
  successor.sockets = {listener(""), listener("a:b"), listener("x", true), listener("", true)};
  successor.variables = {"NOTIFY_SOCKET=/new"};
  const auto process = start(successor);
  ASSERT_TRUE(process) << process.error().text;
  end(*process);
  for (const char* const name : {"LISTEN_FDS", "NOTIFY_SOCKET", "WATCHDOG_PID", "KEPT"}) {
    ::unsetenv(name);
  }
}

// The sockets may have the numbers that they are given, in another order.
TEST(Successor, GetsTheSocketsInTheirOrder) {
  Successor successor = shell(ready_if("true"));
  successor.sockets = {listener("first"), listener("second")};
  const int first = successor.sockets[0].socket->descriptor();
  const int second = successor.sockets[1].socket->descriptor();
  const std::string inode = "$(stat -Lc %i /proc/self/fd/3) $(stat -Lc %i /proc/self/fd/4)";
  const std::string wanted = "$(stat -Lc %i /proc/$PPID/fd/" + std::to_string(first) +
                             ") $(stat -Lc %i /proc/$PPID/fd/" + std::to_string(second) + ")";
  successor.command.back() = ready_if("test \"" + inode + "\" = \"" + wanted + "\"");
  const auto process = start(successor);
  ASSERT_TRUE(process) << process.error().text;
  end(*process);
}

TEST(Successor, GetsNoBlockedSignals) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const std::string why = why_not(shell("kill -TERM $$; sleep 1000"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(why, "the new process was not ready: signal 15 ended it");
}

TEST(Successor, ThatEndsIsReported) {
  EXPECT_EQ(why_not(shell("exit 3")), "the new process was not ready: it ended with exit code 3");
  EXPECT_EQ(why_not(shell("kill -SEGV $$")), "the new process was not ready: signal 11 ended it");
  EXPECT_EQ(why_not(shell("echo READY >&3")),
            "the new process was not ready: it ended with exit code 0");
  EXPECT_FALSE(is_left());
}

TEST(Successor, ThatClosesThePipeIsEnded) {
  EXPECT_EQ(why_not(shell("exec 3>&-; exec sleep 1000")),
            "the new process was not ready: signal 9 ended it");
  EXPECT_FALSE(is_left());
}

TEST(Successor, ThatIsNeverReadyIsEnded) {
  Successor successor = shell("exec sleep 1000");
  successor.deadline = std::chrono::milliseconds(100);
  EXPECT_EQ(why_not(successor), "the new process was not ready: it took longer than 0.1 s");
  EXPECT_FALSE(is_left());
}

TEST(Successor, ThatIsNoLongerWantedIsEnded) {
  Successor successor = shell("exec sleep 1000");
  int asked = 0;
  successor.is_unwanted = [&] { return ++asked > 2; };
  EXPECT_EQ(why_not(successor), "the new process was not ready: this one was told to end");
  EXPECT_FALSE(is_left());
}

TEST(Successor, HasToBeAProgram) {
  Successor successor = shell("");
  successor.command = {"/nowhere/skua"};
  const auto process = start(successor);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code(), Errc::NotFound);
  EXPECT_TRUE(process.error().text.starts_with("could not start /nowhere/skua: "));
  successor.command = {"skua-no-such-program"};
  EXPECT_EQ(start(successor).error().code(), Errc::NotFound);
  EXPECT_FALSE(is_left());
}

TEST(Successor, MayBeThisProgram) {
  const auto command = own_command();
#if defined(__linux__)
  ASSERT_TRUE(command);
  EXPECT_NE(command->front().find("test-service"), std::string::npos) << command->front();
#else
  EXPECT_EQ(command.error().code(), Errc::Unsupported);
#endif
}

}  // namespace
}  // namespace skua::service
