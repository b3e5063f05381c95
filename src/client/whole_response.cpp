// SPDX-License-Identifier: MIT
// In: a request. Out: its response, copied so that it outlives the connection.
#include "client/whole_response.hpp"

#include <utility>

namespace skua::client {

Task<Result<WholeResponse, Problem>> whole(ClientRequest request) {
  Result<ClientResponse, Problem> response = co_await std::move(request).send();
  if (!response) co_return response.error();
  Result<std::string, Problem> content = co_await response->text();
  if (!content) co_return content.error();
  WholeResponse made;
  made.status = response->status();
  for (std::size_t i = 0; const auto field = response->field(i); ++i) {
    made.fields.add(field->first, field->second);
  }
  made.url = response->url();
  made.content = *std::move(content);
  co_return std::move(made);
}

}  // namespace skua::client
