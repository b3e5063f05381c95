// SPDX-License-Identifier: MIT
// Resumable uploads to `skua serve --upload`: cut connections, restarts, other users, both
// protocols.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "skua/credentials.hpp"

namespace skua::test {
namespace {

constexpr const char* tus = "Tus-Resumable: 1.0.0\r\n";
constexpr const char* draft_part = "Content-Type: application/partial-upload\r\n";
constexpr const char* tus_part =
    "Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n";

class ResumeTest : public ServeTest {
 protected:
  std::string send(const std::string& method, const std::string& target, const std::string& fields,
                   const std::string& content = "") const {
    const Connection connection(port_);
    connection.send(method + " " + target +
                    " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + fields +
                    "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content);
    return connection.receive();
  }
  // Announces `size` bytes, sends some of them, and closes once the server has them.
  void send_part(const std::string& method, const std::string& target, const std::string& fields,
                 const std::string& content, std::size_t size) const {
    const Connection connection(port_);
    connection.send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + fields +
                    "Content-Length: " + std::to_string(size) + "\r\n\r\n" + content);
  }
  static std::string field(const std::string& response, const std::string& name) {
    const std::size_t begin = response.find("\r\n" + name + ": ");
    if (begin == std::string::npos) return {};
    const std::size_t value = begin + name.size() + 4;
    return response.substr(value, response.find("\r\n", value) - value);
  }
  std::string offset(const std::string& place, const std::string& fields = "") const {
    return field(send("HEAD", place, fields), "Upload-Offset");
  }
  // Sends the rest as clients do: a request that was cut may still be heard of after HEAD.
  std::string finish(const std::string& place, const std::string& fields) const {
    const std::string whole = "0123456789";
    std::string answer;
    for (int i = 0; i < 10; ++i) {
      const std::size_t kept = std::stoul(offset(place));
      EXPECT_LE(kept, 4U);
      answer = send("PATCH", place, fields + "Upload-Offset: " + std::to_string(kept) + "\r\n",
                    whole.substr(kept));
      if (status(answer) != "409") break;
    }
    return answer;
  }
  std::string content(const std::string& name) const {
    std::ifstream file(tree_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t count(const std::string& folder) const {
    return std::distance(std::filesystem::directory_iterator(tree_ / folder), {});
  }
  std::string begin_draft(const std::string& target = "/plain/new.txt") const {
    const std::string made = send("PUT", target, "Upload-Complete: ?0\r\nUpload-Length: 10\r\n");
    EXPECT_EQ(status(made), "201") << made;
    return field(made, "Location");
  }
  std::string begin_tus() const {
    const std::string made =
        send("POST", "/plain/",
             std::string(tus) + "Upload-Length: 10\r\nUpload-Metadata: filename bmV3LnR4dA==\r\n");
    EXPECT_EQ(status(made), "201") << made;
    return field(made, "Location");
  }
};

TEST_F(ResumeTest, AnUploadGoesOnAfterTheServerWasKilled) {
  start({"--upload"});
  const std::string place = begin_draft();
  EXPECT_EQ(offset(place), "0");
  EXPECT_EQ(status(send("PATCH", place,
                        std::string(draft_part) + "Upload-Offset: 0\r\nUpload-Complete: ?0\r\n",
                        "01234")),
            "204");
  process_->signal(SIGKILL);
  process_->wait();
  start({"--upload"});
  EXPECT_EQ(offset(place), "5");
  EXPECT_EQ(status(get("/plain/new.txt")), "404");
  const std::string done =
      send("PATCH", place, std::string(draft_part) + "Upload-Offset: 5\r\nUpload-Complete: ?1\r\n",
           "56789");
  EXPECT_EQ(status(done), "201") << done;
  EXPECT_EQ(field(done, "Upload-Complete"), "?1");
  EXPECT_EQ(field(done, "Location"), "/plain/new.txt");
  EXPECT_EQ(content("plain/new.txt"), "0123456789");
  EXPECT_EQ(count("plain"), 2);
  const std::string over = send("HEAD", place, "");
  EXPECT_EQ(field(over, "Upload-Complete"), "?1");
  EXPECT_EQ(field(over, "Upload-Offset"), "10");
}

TEST_F(ResumeTest, ACutUploadKeepsWhatHasArrived) {
  start({"--upload"});
  const std::string place = begin_draft();
  send_part("PATCH", place, std::string(draft_part) + "Upload-Offset: 0\r\nUpload-Complete: ?1\r\n",
            "012", 10);
  const std::string fields = std::string(draft_part) + "Upload-Complete: ?1\r\n";
  const std::string wrong = send("PATCH", place, fields + "Upload-Offset: 9\r\n", "9");
  EXPECT_EQ(status(wrong), "409");
  EXPECT_NE(field(wrong, "Upload-Offset"), "");
  EXPECT_NE(wrong.find("mismatching-upload-offset"), wrong.npos);
  EXPECT_EQ(status(finish(place, fields)), "201");
  EXPECT_EQ(content("plain/new.txt"), "0123456789");
}

TEST_F(ResumeTest, AWholeUploadIsOfferedToBeResumed) {
  start({"--upload"});
  const Connection connection(port_);
  connection.send(
      "PUT /plain/new.txt HTTP/1.1\r\nHost: localhost\r\nUpload-Complete: ?1\r\nContent-Length: 10"
      "\r\nUpload-Draft-Interop-Version: 8\r\n\r\n");
  const std::string interim = connection.receive_some();
  EXPECT_TRUE(interim.starts_with("HTTP/1.1 104 Upload Resumption Supported\r\n")) << interim;
  EXPECT_EQ(field(interim, "Upload-Draft-Interop-Version"), "8");
  const std::string place = field(interim, "Location");
  connection.send("0123");
  // Another request takes over, even though the first connection is still open.
  EXPECT_TRUE(place.starts_with("/.skua-uploads/")) << place;
  const std::string kept = offset(place);
  EXPECT_EQ(status(send(
                "PATCH", place,
                std::string(draft_part) + "Upload-Offset: " + kept + "\r\nUpload-Complete: ?1\r\n",
                std::string("0123456789").substr(std::stoul(kept)))),
            "201");
  connection.send("456789");
  EXPECT_EQ(status(connection.receive_some()), "409");
  EXPECT_EQ(content("plain/new.txt"), "0123456789");
}

TEST_F(ResumeTest, WithoutAKnownVersionThereIsNo104) {
  start({"--upload"});
  for (const char* version : {"", "Upload-Draft-Interop-Version: 3\r\n"}) {
    const std::string made = send("PUT", std::string("/n") + (*version == 0 ? "1" : "2"),
                                  std::string("Upload-Complete: ?1\r\n") + version, "0123");
    EXPECT_EQ(status(made), "201") << made;
    EXPECT_EQ(field(made, "Upload-Complete"), "?1");
  }
  EXPECT_EQ(content("n2"), "0123");
}

TEST_F(ResumeTest, TusUploadsInSteps) {
  start({"--upload"});
  const std::string asked = send("OPTIONS", "/plain/", "");
  EXPECT_EQ(field(asked, "Tus-Version"), "1.0.0");
  EXPECT_NE(field(asked, "Tus-Extension").find("creation"), std::string::npos);
  EXPECT_EQ(field(asked, "Accept-Patch"), "application/partial-upload");
  const std::string place = begin_tus();
  send_part("PATCH", place, std::string(tus_part) + "Upload-Offset: 0\r\n", "0123", 10);
  const std::string head = send("HEAD", place, tus);
  EXPECT_EQ(field(head, "Upload-Length"), "10");
  EXPECT_EQ(field(head, "Upload-Metadata"), "filename bmV3LnR4dA==");
  EXPECT_EQ(field(head, "Cache-Control"), "no-store");
  const std::string done = finish(place, tus_part);
  EXPECT_EQ(status(done), "204") << done;
  EXPECT_EQ(field(done, "Upload-Offset"), "10");
  EXPECT_EQ(content("plain/new.txt"), "0123456789");
}

TEST_F(ResumeTest, TusRefusesWhatItDoesNotSpeak) {
  start({"--upload"});
  const std::string place = begin_tus();
  const std::string other = send("PATCH", place, "Tus-Resumable: 0.2.0\r\n", "0");
  EXPECT_EQ(status(other), "412");
  EXPECT_EQ(field(other, "Tus-Version"), "1.0.0");
  EXPECT_EQ(status(send("PATCH", place, std::string(tus) + "Upload-Offset: 0\r\n", "0")), "415");
  EXPECT_EQ(status(send("PATCH", place, std::string(tus_part) + "Upload-Offset: -1\r\n", "0")),
            "400");
  EXPECT_EQ(status(send("PATCH", place, std::string(tus_part) + "Upload-Offset: 0\r\n",
                        "0123456789too long")),
            "400");
  EXPECT_EQ(status(send("POST", "/plain/", std::string(tus) + "Upload-Length: x\r\n")), "400");
  EXPECT_EQ(status(send("POST", "/plain/", std::string(tus) + "Upload-Length: 99999999999\r\n")),
            "413");
  EXPECT_EQ(status(send("DELETE", place, tus)), "204");
  EXPECT_EQ(status(send("HEAD", place, tus)), "404");
  EXPECT_EQ(count("plain"), 1);
}

TEST_F(ResumeTest, OnlyTheSameLoginGoesOn) {
  const Environment uploads("SKUA_UPLOAD_AUTH", "ada:pass");
  start({"--upload"});
  const std::string ada =
      "Authorization: " + BasicCredentials{"ada", "pass"}.field().value() + "\r\n";
  EXPECT_EQ(status(send("PUT", "/new.txt", "Upload-Complete: ?0\r\n")), "401");
  const std::string made = send("PUT", "/new.txt", ada + "Upload-Complete: ?0\r\n", "01");
  EXPECT_EQ(status(made), "201");
  const std::string place = field(made, "Location");
  for (const char* method : {"HEAD", "PATCH", "DELETE", "POST"}) {
    EXPECT_EQ(status(send(method, place, "")), "401") << method;
  }
  EXPECT_EQ(offset(place, ada), "2");
}

TEST_F(ResumeTest, FieldsThatAreKeptAreBounded) {
  start({"--upload"});
  const std::string long_name =
      "Authorization: " + BasicCredentials{std::string(2000, 'a'), ""}.field().value() + "\r\n";
  const std::string long_condition = "If-Match: \"" + std::string(5000, 'a') + "\"\r\n";
  for (const std::string& fields : {long_name, long_condition}) {
    EXPECT_EQ(status(send("PUT", "/plain/new.txt", "Upload-Complete: ?0\r\n" + fields)), "431");
  }
}

TEST_F(ResumeTest, ConditionsHoldWhenTheUploadIsComplete) {
  start({"--upload", "--upload-overwrite"});
  const std::string made =
      send("PUT", "/plain/new.txt", "If-None-Match: *\r\nUpload-Complete: ?0\r\n", "mine");
  ASSERT_EQ(status(made), "201");
  EXPECT_EQ(status(send("PUT", "/plain/new.txt", "", "theirs")), "201");
  const std::string done =
      send("PATCH", field(made, "Location"),
           std::string(draft_part) + "Upload-Offset: 4\r\nUpload-Complete: ?1\r\n", "");
  EXPECT_EQ(status(done), "412");
  EXPECT_EQ(field(done, "Upload-Complete"), "?1");
  EXPECT_EQ(content("plain/new.txt"), "theirs");
  EXPECT_EQ(count("plain"), 2);
}

TEST_F(ResumeTest, PlacesThatAreNotUploadsAreUnknown) {
  start({"--upload"});
  const std::string place = begin_draft();
  const std::string token = place.substr(15, 32);
  for (const std::string& other :
       {"/.skua-uploads/" + token + "/", "/.skua-uploads/" + token + "/../plain/x/",
        "/.skua-uploads/" + token + "/none/", "/.skua-uploads/" + token,
        std::string("/.skua-uploads/"),
        std::string("/.skua-uploads/00000000000000000000000000000000/plain/"),
        "/.skua-uploads/" + token + "/%2e%2e/plain/", "/plain/.skua-upload-" + token,
        "/plain/.skua-upload-" + token + ".state"}) {
    const std::string answer = send("HEAD", other, "");
    EXPECT_TRUE(status(answer) == "404" || status(answer) == "400") << other << answer;
  }
  EXPECT_EQ(status(get("/plain/.skua-upload-" + token + ".state")), "404");
  EXPECT_EQ(offset(place), "0");
}

TEST_F(ResumeTest, UploadsAreKeptOnlyIfAskedFor) {
  start({"--upload"});
  const std::string place = begin_draft();
  EXPECT_EQ(count("plain"), 3);
  start({"--upload", "--upload-keep", "0"});
  EXPECT_EQ(count("plain"), 1);
  EXPECT_EQ(status(send("HEAD", place, "")), "404");
  const std::string whole = send("PUT", "/plain/new.txt", "Upload-Complete: ?1\r\n", "01");
  EXPECT_EQ(status(whole), "201");
  EXPECT_EQ(field(whole, "Upload-Complete"), "");
}

TEST_F(ResumeTest, UnfinishedUploadsAreBounded) {
  start({"--upload"});
  for (int i = 0; i < 16; ++i) begin_draft("/plain/new" + std::to_string(i));
  std::string last;
  for (int i = 16; i < 110; ++i) {
    last = send("PUT", "/plain/new" + std::to_string(i),
                "Upload-Complete: ?0\r\nUpload-Length: 10\r\n");
  }
  EXPECT_EQ(status(last), "507");
  EXPECT_EQ(count("plain"), 1 + 2 * 100);
  EXPECT_EQ(status(send("PUT", "/plain/whole", "", "whole")), "201");
}

}  // namespace
}  // namespace skua::test
