// SPDX-License-Identifier: MIT
#include "skua/response.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <string>

#include "skua/http_error.hpp"
#include "skua/prepared_response.hpp"

namespace skua {
namespace {

TEST(Response, IsMadeOfWhatAHandlerReturns) {
  EXPECT_EQ(Response().status(), Status::Ok);
  EXPECT_EQ(Response().body(), "");
  EXPECT_EQ(Response().content_type(), "");
  EXPECT_EQ(Response("text").body(), "text");
  EXPECT_EQ(Response("text").content_type(), "text/plain; charset=utf-8");
  EXPECT_EQ(Response(std::string(100, 'x')).body(), std::string(100, 'x'));
  EXPECT_EQ(Response(std::string_view("view")).body(), "view");
  EXPECT_EQ(Response(StaticText("static")).body(), "static");
  EXPECT_EQ(Response(std::make_shared<const std::string>("shared")).body(), "shared");
  EXPECT_EQ(Response::html("<p>").content_type(), "text/html; charset=utf-8");
  EXPECT_EQ(Response::json("{}").content_type(), "application/json");
}

TEST(Response, SaysAnErrorStatusInALineOfText) {
  EXPECT_EQ(Response(Status::NotFound).body(), "404 Not Found\n");
  EXPECT_EQ(Response(Status(499)).body(), "499\n");
  EXPECT_EQ(Response(Status::NoContent).body(), "");
  EXPECT_EQ(Response(Status::SeeOther).content_type(), "");
}

TEST(Response, ShowsTheSentenceOfAnErrorButNotItsContext) {
  const Response missing = Error(Errc::NotFound, "/etc/secret");
  EXPECT_EQ(missing.status(), Status::NotFound);
  EXPECT_EQ(missing.body(), "it was not found\n");
  const Response own = Error(Errc::NotFound, "/etc/secret", ENOENT);
  EXPECT_EQ(own.status(), Status::InternalServerError);
  EXPECT_EQ(own.body(), "the operating system failed\n");
}

TEST(Response, IsMadeOfAResult) {
  EXPECT_EQ(Response(Result<std::string>("good")).body(), "good");
  EXPECT_EQ(Response(Result<std::string>(Errc::BodyTooLong)).status(), Status::ContentTooLarge);
  EXPECT_EQ(Response(Result<Status>(Status::Created)).status(), Status::Created);
  EXPECT_EQ(Response(Result<void>()).status(), Status::NoContent);
  EXPECT_EQ(Response(Result<void>(Errc::NotFound)).status(), Status::NotFound);
}

TEST(Response, SetsFieldsAndAddsCookies) {
  const Response response = Response("x")
                                .header("X-A", "1")
                                .header("x-a", "2")
                                .add_header("Vary", "a")
                                .add_header("Vary", "b")
                                .cookie("a", "b");
  EXPECT_EQ(response.lines().wire(),
            "x-a: 2\r\nVary: a\r\nVary: b\r\nSet-Cookie: a=b; Path=/; Secure; HttpOnly; "
            "SameSite=Lax\r\n");
  EXPECT_EQ(response.header("X-A"), "2");
  EXPECT_EQ(response.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(response.header("X-B"), std::nullopt);
}

TEST(Response, NeverReplacesACookie) {
  EXPECT_EQ(Response().header("Set-Cookie", "a=b").header("set-cookie", "c=d").lines().wire(),
            "Set-Cookie: a=b\r\nset-cookie: c=d\r\n");
}

TEST(Response, KeepsTheContentTypeOnce) {
  Response response(Status::Ok, "x", "image/svg+xml");
  EXPECT_EQ(response.content_type(), "image/svg+xml");
  EXPECT_EQ(response.lines().wire(), "Content-Type: image/svg+xml\r\n");
  response.header("content-type", "application/json");
  EXPECT_EQ(response.content_type(), "application/json");
  EXPECT_TRUE(response.lines().empty());
  response.add_header("Content-Type", "text/css").header("Content-Type", "text/x");
  EXPECT_EQ(response.lines().wire(), "Content-Type: text/x\r\n");
}

TEST(Response, RefusesTheFieldsThatFrameAMessage) {
  Response response;
  for (const char* const name : {"Content-Length", "transfer-encoding", "Connection", "KEEP-ALIVE",
                                 "Upgrade", "Trailer", "TE", "Proxy-Connection"}) {
    EXPECT_THROW(response.header(name, "x"), std::invalid_argument) << name;
    EXPECT_THROW(response.add_header(name, "x"), std::invalid_argument) << name;
  }
  try {
    response.header("Content-Length", "5");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "header Content-Length cannot be set by hand: it is computed from the body");
  }
}

TEST(Response, RefusesToBeSplit) {
  EXPECT_THROW(Response().header("A", "b\r\nSet-Cookie: c=d"), std::invalid_argument);
  EXPECT_THROW((void)Response::redirect("/\r\nX: y"), std::invalid_argument);
  EXPECT_THROW((void)Response(Status::Ok, "x", "text/plain\r\nX: y"), std::invalid_argument);
  EXPECT_THROW(Response().header("Content-Type", "a\nb"), std::invalid_argument);
}

TEST(Response, Redirects) {
  const Response response = Response::redirect("/there");
  EXPECT_EQ(response.status(), Status::SeeOther);
  EXPECT_EQ(response.header("Location"), "/there");
  EXPECT_EQ(Response::redirect("/x", Status::PermanentRedirect).status(),
            Status::PermanentRedirect);
  EXPECT_THROW((void)Response::redirect("/x", Status::Ok), std::invalid_argument);
}

TEST(Response, ReplacesItsBody) {
  Response response(Status::NotFound);
  response.body("gone");
  EXPECT_EQ(response.body(), "gone");
  response.body("<p>", Response::html_text);
  EXPECT_EQ(response.content_type(), Response::html_text);
}

TEST(PreparedResponse, IsSerialisedOnce) {
  const PreparedResponse prepared(Response::html("<p>").header("Vary", "x"));
  EXPECT_EQ(prepared.head(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nVary: "
            "x\r\nContent-Length: 3\r\n");
  EXPECT_EQ(prepared.body(), "<p>");
  EXPECT_EQ(PreparedResponse(Status::NoContent).head(), "HTTP/1.1 204 No Content\r\n");
  EXPECT_EQ(PreparedResponse(Response(Status::NotModified, "dropped")).body(), "");
  EXPECT_EQ(PreparedResponse(Response(Status(299), "x", "a/b")).head(),
            "HTTP/1.1 299 \r\nContent-Type: a/b\r\nContent-Length: 1\r\n");
  EXPECT_THROW(PreparedResponse(Response(FileRange{})), std::invalid_argument);
}

TEST(PreparedResponse, IsSentByReference) {
  const PreparedResponse prepared("Hello");
  Response response(prepared);
  EXPECT_EQ(response.prepared(), &prepared);
  EXPECT_EQ(response.body().data(), prepared.body().data());
  EXPECT_EQ(response.content_type(), Response::plain_text);
  response.header("X-A", "b");
  EXPECT_EQ(response.prepared(), &prepared);
  EXPECT_EQ(response.lines().wire(), "X-A: b\r\n");
}

TEST(PreparedResponse, IsTakenApartWhenItsHeadWouldNoLongerBeTrue) {
  const PreparedResponse prepared(Response("Hello").header("Vary", "x").header("Server", "mine"));
  Response response(prepared);
  EXPECT_NE(response.known_fields(), 0U);
  response.add_header("X-A", "b").header("vary", "y");
  EXPECT_EQ(response.prepared(), nullptr);
  EXPECT_EQ(response.lines().wire(), "Server: mine\r\nX-A: b\r\nvary: y\r\n");
  EXPECT_EQ(response.body().data(), prepared.body().data());
  Response other(prepared);
  other.status(Status::Created);
  EXPECT_EQ(other.prepared(), nullptr);
  EXPECT_EQ(other.static_type(), Response::plain_text);
  EXPECT_EQ(PreparedResponse(Response(prepared)).head(), prepared.head());
}

TEST(PreparedResponse, IsKeptAliveByAResponseThatSharesIt) {
  auto prepared = std::make_shared<const PreparedResponse>(Response(std::string(100, 'x')));
  Response response(prepared);
  prepared.reset();
  EXPECT_EQ(response.body(), std::string(100, 'x'));
  EXPECT_EQ(response.prepared()->body(), response.body());
  response.status(Status::Created);
  EXPECT_EQ(response.body(), std::string(100, 'x'));
  EXPECT_THROW(Response(std::shared_ptr<const PreparedResponse>()), std::invalid_argument);
}

TEST(Response, NamesWhatItVariesBy) {
  Response response("x");
  response.vary("Origin").vary("Accept-Encoding").vary("origin");
  EXPECT_EQ(response.lines().wire(), "Vary: Origin, Accept-Encoding\r\n");
  Response lines("x");
  lines.add_header("Vary", "A").add_header("vary", " , B,").vary("b").vary("C");
  EXPECT_EQ(lines.lines().wire(), "Vary: A, B, C\r\n");
  Response star("x");
  star.header("Vary", "Accept, *").vary("Origin");
  EXPECT_EQ(star.header("Vary"), "Accept, *");
}

TEST(Response, AFieldIsTakenOut) {
  Response response = Response::html("x");
  response.add_header("X-A", "1").add_header("x-a", "2").header("B", "3");
  response.remove_header("X-A").remove_header("content-type").remove_header("none");
  EXPECT_EQ(response.lines().wire(), "B: 3\r\n");
  EXPECT_EQ(response.content_type(), "");
  response.body("y", "a/b").remove_header("Content-Type");
  EXPECT_EQ(response.content_type(), "");
}

TEST(PreparedResponse, StaysPreparedWhereVaryIsNew) {
  const PreparedResponse prepared(Response("x").header("X-A", "1"));
  Response response(prepared);
  response.vary("Origin").remove_header("none");
  EXPECT_EQ(response.prepared(), &prepared);
  EXPECT_EQ(response.lines().wire(), "Vary: Origin\r\n");
  response.remove_header("X-A");
  EXPECT_EQ(response.prepared(), nullptr);
  EXPECT_EQ(response.lines().wire(), "Vary: Origin\r\n");
  const PreparedResponse varies(Response("x").header("Vary", "Accept"));
  Response other(varies);
  other.vary("accept");
  EXPECT_EQ(other.prepared(), &varies);
  other.vary("Origin");
  EXPECT_EQ(other.header("Vary"), "Accept, Origin");
  EXPECT_EQ(other.lines().wire(), "Vary: Accept, Origin\r\n");
}

TEST(HttpError, CarriesAStatusAndAText) {
  const HttpError error(Status::Conflict, "it changed");
  EXPECT_EQ(error.status(), Status::Conflict);
  EXPECT_STREQ(error.what(), "it changed");
  EXPECT_EQ(error.reason(), "");
  EXPECT_EQ(HttpError(Status::BadGateway, "", "no route").reason(), "no route");
}

}  // namespace
}  // namespace skua
