// SPDX-License-Identifier: MIT
// In: a request as a person writes it. Out: the parts that a server would make of it, and what it
// would answer.
#include "skua/testing.hpp"

#include <cstdio>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "async/guarded.hpp"
#include "base/ascii.hpp"
#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "http/message/response_parts.hpp"
#include "http/message/start_line.hpp"
#include "http/uri/target_path.hpp"
#include "router/table.hpp"
#include "skua/async.hpp"
#include "skua/http_error.hpp"

namespace skua::testing {

struct FakeRequest::State final : detail::ConnectionSource {
  Connection& connection() override { return known; }

  std::string text;  // the line, then names and values: the head's offsets refer to it
  std::string scratch;
  std::string body;
  std::vector<http::FieldLine> fields;
  http::Head head;
  http::RequestParts parts;
  Connection known{{}};
  std::optional<Request> request;
};

void FakeRequest::Delete::operator()(State* state) const noexcept {
  std::default_delete<State>()(state);
}

FakeRequest::FakeRequest(std::string_view line, std::string_view body)
    : state_(std::make_unique<State>().release()) {
  const std::size_t space = line.find(' ');
  const std::string_view token = line.substr(0, space);
  const std::optional<Method> known = parse_method(token);
  const bool is_method = known || (ascii::is_token_text(token) && http::may_be_other_method(token));
  if (!is_method || space == line.npos)
    throw std::invalid_argument("FakeRequest: expected a method and a target");
  state_->text = line;
  state_->head.method = known.value_or(Method::Other);
  state_->head.method_bytes = static_cast<std::uint8_t>(token.size());
  state_->head.target_begin = static_cast<std::uint32_t>(space + 1);
  state_->head.target_bytes = static_cast<std::uint16_t>(line.size() - space - 1);
  state_->body = body;
}

FakeRequest& FakeRequest::header(std::string_view name, std::string_view value) {
  if (state_->request) throw std::invalid_argument("FakeRequest: header() after request()");
  http::FieldLine line;
  line.name = http::find_field_name(name);
  line.name_begin = static_cast<std::uint32_t>(state_->text.size());
  line.name_bytes = static_cast<std::uint16_t>(name.size());
  state_->text.append(name);
  line.value_begin = static_cast<std::uint32_t>(state_->text.size());
  line.value_bytes = static_cast<std::uint16_t>(value.size());
  state_->text.append(value);
  state_->fields.push_back(line);
  state_->head.known |= std::uint64_t{1} << static_cast<unsigned>(line.name);
  return *this;
}

Request& FakeRequest::request() {
  State& state = *state_;
  if (state.request) return *state.request;
  state.head.base = state.text.data();
  state.head.fields = state.fields;
  const http::TargetParts target = http::split_target(state.head.target());
  state.scratch.resize(target.path.size());
  state.parts.head = &state.head;
  state.parts.path = http::canonical_path(target.path, state.scratch).value();
  state.parts.query = target.query;
  const http::FieldLine* const host = state.head.find(http::FieldName::Host);
  state.parts.host = host == nullptr ? std::string_view("localhost") : state.head.value(*host);
  state.parts.body = state.body;
  state.parts.connection = &state;
  return state.request.emplace(state.parts);
}

namespace {

// Returns the response of `produce`. A server would log what the peer must not see.
template <class F>
Response answer(std::string_view line, F&& produce) {
  try {
    return produce();
  } catch (const HttpError& error) {
    const std::string_view text = error.what();
    Response response =
        text.empty() ? Response(error.status()) : Response(error.status(), std::string(text));
    error.amend(response);
    return response;
  } catch (const Exception& error) {
    return error.error();
  } catch (const std::bad_alloc&) {
    return Error(Errc::OutOfMemory);
  } catch (...) {
    const std::string why = std::string(line).append(": ").append(async::thrown_text());
    std::fprintf(stderr, "a handler failed on %s\n", why.c_str());
    return Status::InternalServerError;
  }
}

}  // namespace

Response call(const Router& router, std::string_view line, std::string_view body) {
  FakeRequest fake(line, body);
  Request& request = fake.request();
  const router::Match match = router.match(request.method(), request.path());
  Response response = answer(line, [&] {
    Response made =
        match.has_coroutine ? run(router.start(match, request)) : router.invoke(match, request);
    http::apply_conditions(request, made);
    return made;
  });
  router::for_each_finisher(*match.scope,
                            [&](const detail::Erased<detail::FinisherCall>& finisher) {
                              response = answer(line, [&] {
                                finisher.call(finisher.object.get(), request, response);
                                return std::move(response);
                              });
                            });
  http::RequestAccess::bind(request, nullptr);
  return response;
}

}  // namespace skua::testing
