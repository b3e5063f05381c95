// SPDX-License-Identifier: MIT
// The `skua` command as people and scripts see it: a process with arguments, output, an exit code.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "crypto/digest.hpp"
#include "support/temporary_directory.hpp"

namespace skua::test {
namespace {

using support::TemporaryDirectory;

TEST_F(ServeTest, ServesAFolderAndEndsWellOnATerm) {
  start();
  EXPECT_TRUE(get("/").ends_with("\r\n\r\n<h1>home</h1>"));
  EXPECT_TRUE(get("/a%20b.txt").ends_with("\r\n\r\nhello"));
  EXPECT_TRUE(get("/large.bin").ends_with(std::string(300'000, 'x')));
  EXPECT_TRUE(ask("GET /large.bin HTTP/1.1\r\nRange: bytes=0-4").ends_with("\r\n\r\nxxxxx"));
  EXPECT_TRUE(ask("HEAD / HTTP/1.1").ends_with("\r\n\r\n"));
  EXPECT_NE(get("/plain").find("\r\nLocation: /plain/\r\n"), std::string::npos);
  EXPECT_NE(get("/plain/").find("href=\"./c.txt\""), std::string::npos);
  EXPECT_EQ(status(get("/.env")), "404");
  EXPECT_EQ(status(get("/none")), "404");
  EXPECT_EQ(status(get("/%2e%2e/%2e%2e/etc/passwd")), "400");
  EXPECT_EQ(status(ask("POST / HTTP/1.1\r\nContent-Length: 0")), "405");
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ServeTest, ATermRightAfterTheFirstLineIsNotLost) {
  for (int i = 0; i < 5; ++i) {
    start();
    process_->signal(i % 2 == 0 ? SIGTERM : SIGINT);
    EXPECT_EQ(process_->wait(), 0);
  }
}

TEST_F(ServeTest, RefusesClientsByNetwork) {
  start({"--deny", "127.0.0.0/8", "--allow", "0.0.0.0/0"});
  EXPECT_EQ(get("/"), "");
  start({"--allow", "192.0.2.0/24"});
  EXPECT_EQ(get("/"), "");
  start({"--allow", "192.0.2.0/24", "--allow", "127.0.0.1", "--deny", "127.0.0.2"});
  EXPECT_TRUE(get("/").ends_with("<h1>home</h1>"));
}

TEST_F(ServeTest, ReloadsListsOfNetworksOnAHangup) {
  const TemporaryDirectory lists;
  lists.write("deny", "# nobody\n");
  start({"--deny", "@" + (lists / "deny").string(), "--allow", "127.0.0.1"});
  EXPECT_FALSE(get("/").empty());
  const auto reload = [&](const std::string& list, const std::string& said) {
    lists.write("deny", list);
    process_->signal(SIGHUP);
    const std::string errors = process_->errors_until(said);
    EXPECT_NE(errors.find(said), std::string::npos) << errors;
  };
  reload("10.0.0.0/8\n127.0.0.0/8 # ours\n", "reloaded: 1 networks allowed, 2 denied");
  EXPECT_EQ(get("/"), "");
  reload("10.0.0.0/8\n127.0.0.0/x\n", "keeping the old configuration: --deny: ");
  EXPECT_EQ(get("/"), "");
  reload("", "reloaded: 1 networks allowed, 0 denied");
  EXPECT_FALSE(get("/").empty());
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ServeTest, RefusesListsThatItCannotUse) {
  tree_.write("networks", "10.0.0.0/8\n10.0.0.0/33\n");
  tree_.write("empty", "# nothing\n");
  const std::string networks = (tree_ / "networks").string();
  const auto errors = [this](const char* option, const std::string& value,
                             const std::string& host = "127.0.0.1") {
    Process process({"serve", tree_.string(), "--port", "0", "--host", host, option, value});
    std::string text = process.errors();
    EXPECT_EQ(process.wait(), 1);
    return text;
  };
  EXPECT_EQ(errors("--allow", "10.0.0.0/33"),
            "skua: --allow: \"10.0.0.0/33\" is not a network such as 10.0.0.0/8 or ::1\n");
  EXPECT_EQ(errors("--deny", "@" + networks),
            "skua: --deny: " + networks +
                ", line 2: \"10.0.0.0/33\" is not a network such as 10.0.0.0/8\n");
  EXPECT_EQ(errors("--allow", "@" + (tree_ / "empty").string()),
            "skua: --allow: the list is empty, which would allow everyone\n");
  EXPECT_TRUE(
      errors("--deny", "10.0.0.0/8", "unix:/tmp/x").starts_with("skua: --allow and --deny"));
  EXPECT_TRUE(errors("--deny", "@/nowhere/list").starts_with("skua: --deny: cannot read"));
}

TEST_F(ServeTest, ASecondInterruptEndsTheDrainAtOnce) {
  start();
  const Connection slow(port_);
  slow.send("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");  // its content never comes
  EXPECT_TRUE(get("/").starts_with("HTTP/1.1 200"));
  process_->signal(SIGINT);
  process_->signal(SIGTERM);  // two pending signals of one number would merge into one
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ServeTest, GoesOnServingForTheDrainDelay) {
  start({"--drain-delay", "3600", "--drain-grace", "0.001"});
  process_->signal(SIGTERM);
  EXPECT_NE(process_->errors_until("stopping").find("stopping"), std::string::npos);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(get("/").ends_with("<h1>home</h1>"));
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ServeTest, OptionsReachTheFiles) {
  start({"--dotfiles", "--no-listing", "--no-follow-symlinks", "--max-age", "60", "--index",
         "a b.txt"});
  EXPECT_TRUE(get("/.env").ends_with("\r\n\r\nsecret"));
  EXPECT_EQ(status(get("/plain/")), "404");
  EXPECT_EQ(status(get("/link.html")), "404");
  const std::string home = get("/");
  EXPECT_TRUE(home.ends_with("\r\n\r\nhello"));
  EXPECT_NE(home.find("\r\nCache-Control: max-age=60\r\n"), std::string::npos);
}

TEST_F(ServeTest, WritesAnAccessLogThatNoRequestCanForge) {
  start({"--access-log", "--quiet"});
  ask("GET /?q=1 HTTP/1.1\r\nUser-Agent: a\"b\\c");
  const std::string line = process_->line();
  EXPECT_TRUE(line.starts_with("127.0.0.1 - - [")) << line;
  EXPECT_TRUE(line.ends_with(R"("GET /?q=1 HTTP/1.1" 200 13 "-" "a\"b\\c")")) << line;
}

TEST_F(ServeTest, TheAccessLogTellsOfADownloadThatWasCutWhatWasSent) {
  constexpr std::size_t huge_bytes = 32'000'000;
  tree_.write("huge.bin", std::string(huge_bytes, 'x'));
  start({"--access-log", "--quiet"});
  {
    const Connection connection(port_);
    connection.send("GET /huge.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_FALSE(connection.receive_some().empty());
  }
  const std::string line = process_->line();
  EXPECT_TRUE(line.ends_with(" \"-\" \"-\" cut")) << line;
  const std::string_view before = "HTTP/1.1\" 200 ";
  EXPECT_LT(std::stoull(line.substr(line.find(before) + before.size())), huge_bytes) << line;
}

TEST_F(ServeTest, PrintsItsAddressesIfItIsPublic) {
  Process process({"serve", tree_.string(), "--port", "0", "--public"});
  const std::string first = process.line();
  constexpr std::string_view expected = "listening on http://0.0.0.0:";
  ASSERT_TRUE(first.starts_with(expected)) << first;
  const std::string local = "  http://127.0.0.1:" + first.substr(expected.size()) + "\n";
  const std::string errors = process.errors_until("press Ctrl-C");
  EXPECT_NE(errors.find("WARNING: --public: "), errors.npos) << errors;
  EXPECT_NE(errors.find(local), errors.npos) << errors;
  Process both({"serve", "--public", "--host", "127.0.0.1", "--print-config"});
  EXPECT_NE(both.errors().find("cannot be used together"), std::string::npos);
  EXPECT_EQ(both.wait(), 2);
}

TEST_F(ServeTest, SaysWhatToDoWhenThePortIsBusy) {
  start();
  const std::string port = std::to_string(port_);
  Process second({"serve", tree_.string(), "--port", port});
  const std::string errors = second.errors();
  EXPECT_EQ(second.wait(), 1);
  EXPECT_NE(errors.find("127.0.0.1:" + port), std::string::npos) << errors;
  EXPECT_NE(errors.find("--port"), std::string::npos) << errors;
}

TEST_F(ServeTest, ListensOnAUnixSocketAndSaysWhenItIsTaken) {
  const std::string host = "unix:" + (tree_ / "socket").string();
  Process first({"serve", tree_.string(), "--host", host});
  EXPECT_EQ(first.line(), "listening on " + host);
  Process second({"serve", tree_.string(), "--host", host});
  const std::string errors = second.errors();
  EXPECT_EQ(second.wait(), 1);
  EXPECT_NE(errors.find("cannot listen on " + host + ": "), std::string::npos) << errors;
  EXPECT_NE(errors.find("remove it"), std::string::npos) << errors;
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), 0);
}

TEST_F(ServeTest, SaysWhatToDoWhenTheFolderIsNone) {
  Process none({"serve", (tree_ / "none").string(), "--port", "0"});
  EXPECT_NE(none.errors().find("no such folder"), std::string::npos);
  EXPECT_EQ(none.wait(), 1);
  Process file({"serve", (tree_ / "index.html").string(), "--port", "0"});
  EXPECT_NE(file.errors().find("not a folder"), std::string::npos);
  EXPECT_EQ(file.wait(), 1);
  Process host({"serve", tree_.string(), "--port", "0", "--host", "nonsense host"});
  EXPECT_NE(host.errors().find("--host"), std::string::npos);
  EXPECT_EQ(host.wait(), 1);
}

TEST_F(ServeTest, PrintsEveryLimitAndTimeout) {
  Process process({"serve", tree_.string(), "--print-config"});
  const std::string text = process.output();
  EXPECT_EQ(process.wait(), 0);
  for (const char* part :
       {"[limits]", "[timeouts]", "head                         = 64 KiB",
        "idle                         = 75 s", "connection_age               = 1 h",
        "drain_delay                  = 0 s", "drain_grace                  = 50 ms",
        "\n# host = \"127.0.0.1\"\n", "\n# access-log = false\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Skua, PrintsHelpAndVersion) {
  Process alone({});
  EXPECT_NE(alone.output().find("serve"), std::string::npos);
  EXPECT_EQ(alone.wait(), 0);
  Process version({"--version"});
  EXPECT_TRUE(version.line().starts_with("skua 0."));
  EXPECT_EQ(version.wait(), 0);
  Process help({"serve", "--help"});
  EXPECT_NE(help.output().find("--access-log"), std::string::npos);
  EXPECT_EQ(help.wait(), 0);
}

TEST_F(ServeTest, SaysThatItStops) {
  start();
  process_->signal(SIGINT);
  EXPECT_NE(process_->errors().find("stopping after the requests in progress"), std::string::npos);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ServeTest, ListsALargeFolderInPages) {
  for (int i = 10'000; i < 11'500; ++i) tree_.write("many/" + std::to_string(i), "");
  start();
  const std::string first = get("/many/");
  EXPECT_EQ(status(first), "200");
  EXPECT_NE(first.find("href=\"?page=2\""), std::string::npos);
  EXPECT_NE(get("/many/?page=2").find("./11499\""), std::string::npos);
}

// Invalid command lines, and the first line of their error messages.
TEST(Skua, SaysWhatIsWrongInItsOwnWords) {
  const std::string url = "http://127.0.0.1:1/";
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"nosuch", "--help"}, "skua: unknown command 'nosuch'\nTry `skua --help`.\n"},
      {{"serve", "--nonsense"}, "skua: unknown option --nonsense\nTry `skua serve --help`.\n"},
      {{"serve", "a", "b"}, "skua: unexpected argument 'b'\n"},
      {{"serve", "--port", "x"}, "skua: --port: 'x' is not a whole number from 0 to 65535\n"},
      {{"get"}, "skua: URL is missing\nTry `skua get --help`.\n"},
      {{"get", url, "--timeout"}, "skua: --timeout needs a value\n"},
      {{"get", url, "--timeout", "x"}, "skua: --timeout: 'x' is not a number from 0.001 to "},
      {{"get", url, "--max-size", "z"}, "'z' is not a size such as 500, 64K or 2GiB\n"},
      {{"get", url, "--key", "k"},
       crypto::is_available() ? "skua: --key needs --cert\n"
                              : "skua: --key: this build of skua has no TLS\n"},
      {{"get", url, "--form", "--json"}, "cannot be used together\n"},
      {{"get", url, "--colour", "blue"}, "'blue' is not auto, always or never\n"},
      {{"get", url, "-L"}, "skua: unknown option -L\nRedirects are followed by default.\n"},
      {{"bench", url, "--backend", "x"},
       "'x' is not auto, epoll, io_uring, iocp, kqueue or poll\n"},
  };
  for (const auto& [words, text] : cases) {
    Process process(words);
    const std::string errors = process.errors();
    EXPECT_NE(errors.find(text), std::string::npos) << errors;
    EXPECT_EQ(process.wait(), 2);
  }
}

TEST(Skua, NamesTheBackEndsWhenOneIsUnknown) {
  Process process({"serve", "--backend", "kqueue9"});
  const std::string errors = process.errors();
  EXPECT_NE(errors.find("'kqueue9' is not auto, epoll, io_uring, iocp, kqueue or poll"),
            std::string::npos)
      << errors;
  EXPECT_EQ(process.wait(), 2);
}

TEST(Skua, ACommandLineThatMakesNoSenseEndsWithTwo) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"nonsense"},
                                                    {"serve", "--nonsense"},
                                                    {"serve", "--port", "x"},
                                                    {"serve", "--port", "70000"},
                                                    {"serve", "--port", "-1"},
                                                    {"serve", "--backend", "kqueue9"},
                                                    {"serve", "a", "b"},
                                                    {"serve", "--max-age", "-2"}}) {
    Process process(arguments);
    EXPECT_FALSE(process.errors().empty()) << arguments.back();
    EXPECT_EQ(process.wait(), 2) << arguments.back();
  }
}

}  // namespace
}  // namespace skua::test
