// SPDX-License-Identifier: MIT
// Each call runs its own client on its own loop.
#include "skua/blocking.hpp"

#include <utility>

#include "client/problem.hpp"
#include "client/whole_response.hpp"
#include "skua/async.hpp"

namespace skua {
namespace {

using Answer = Result<WholeResponse, Problem>;
using Make = std::function<ClientRequest(Client&)>;

Task<Answer> with_client(const Make& make, ClientOptions options) {
  Client own(std::move(options));
  Answer answer = co_await client::whole(make(own));
  co_await own.close();
  co_return answer;
}

Result<std::string, Problem> content_of(const Make& make, ClientOptions options, Method method) {
  Answer answer = run(with_client(make, std::move(options)));
  if (!answer) return std::move(answer).error();
  if (code(answer->status) / 100 == 2) return std::move(answer->content);
  return client::could_not(client::step_of(method, answer->url), Errc::UnexpectedStatus,
                           "the server answered " + std::to_string(code(answer->status)));
}

}  // namespace

Result<std::string, Problem> blocking::get(std::string_view url, ClientOptions options) {
  return content_of([url](Client& client) { return client.get(url); }, std::move(options),
                    Method::Get);
}

Result<std::string, Problem> blocking::post(std::string_view url, std::string content,
                                            std::string_view type, ClientOptions options) {
  const Make make = [&](Client& client) { return client.post(url).body(std::move(content), type); };
  return content_of(make, std::move(options), Method::Post);
}

Result<WholeResponse, Problem> blocking::send(const Make& make, ClientOptions options) {
  return run(with_client(make, std::move(options)));
}

}  // namespace skua
