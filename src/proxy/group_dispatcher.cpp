// SPDX-License-Identifier: MIT
// In: a request, as it is to be sent. Out: the response of a member of a group. If one fails before
// anything of a response was passed on, and it is safe, another one is asked.
#include "proxy/group_dispatcher.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "client/fetch.hpp"
#include "client/waiting.hpp"
#include "crypto/keyed_hash.hpp"
#include "crypto/random.hpp"
#include "http/message/request_parts.hpp"
#include "loop/loop.hpp"
#include "proxy/upkeep.hpp"
#include "skua/async.hpp"
#include "skua/http_error.hpp"
#include "skua/response.hpp"

namespace skua::proxy {
namespace {

using client::RequestSpec;

std::atomic<std::uint64_t> last_group_id{0};

constexpr std::size_t most_tried = 64;  // members for a request, if none of them can be reached

// Its key is fixed, so that several gateways agree.
constexpr crypto::KeyedHash key_hash(0x736b75612d676174U, 0x65776179206b6579U);

/// The answer to a request that no member takes.
class NotTaken final : public HttpError {
 public:
  NotTaken(const UpstreamOptions& options, const std::string& why)
      : HttpError(Status::ServiceUnavailable, {}, "upstream " + options.name + ": " + why),
        retry_after_(options.limits.retry_after) {}

  void amend(Response& response) const override {
    response.header("Retry-After", std::to_string(std::uint64_t(retry_after_.count())));
  }

 private:
  std::chrono::seconds retry_after_;
};

void add_one(std::atomic<std::uint64_t>& count) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
}

// Without its port, as a client may have many connections.
std::size_t hash_of(const Address& client) noexcept {
  const Bytes bytes = client.ip_bytes();
  return static_cast<std::size_t>(
      key_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

std::string described(const Member& member, const std::string& text) {
  return member.address ? text + " (" + member.name + ")" : text;
}

}  // namespace

// Passages ---------------------------------------------------------------------------------------

Passage::Passage(std::shared_ptr<Group> group, std::shared_ptr<Member> member, loop::Loop& loop,
                 loop::Instant deadline) noexcept
    : group_(std::move(group)), member_(std::move(member)), loop_(loop), deadline_(deadline) {}

Passage::~Passage() { end(is_tunnel_ ? Outcome::Answered : Outcome::Cancelled); }

void Passage::note_head(const client::IncomingResponse& response) noexcept {
  const Outcome outcome = outcome_of(response.head().status);
  if (is_failure(outcome)) return end(outcome);
  if (!is_over_ && !std::exchange(has_response_, true)) group_->note_response(*member_);
  expected_ = outcome;
  is_tunnel_ = response.switches_protocol();
}

// Only failures need the time: the loop may be about to end.
void Passage::end(Outcome outcome, bool is_to_blame) noexcept {
  if (std::exchange(is_over_, true)) return;
  const loop::Instant now = is_failure(outcome) ? loop_.now() : loop::Instant();
  const bool is_late = outcome == Outcome::Timeout || outcome == Outcome::ConnectTimeout;
  if (is_late && now >= deadline_) outcome = Outcome::Cancelled;
  group_->judge(*member_, outcome, now, is_to_blame);
  group_->release(*member_, has_response_);
}

Outcome Passage::end(Error error, const client::Reached& reached) noexcept {
  const Outcome outcome = outcome_of(error, reached);
  end(outcome, !reached.was_reused && !member_->is_our_own(error));
  return outcome;
}

void Passage::completed() noexcept {
  if (!is_tunnel_) end(expected_);
}

void Passage::failed(const Problem& why) noexcept {
  const Outcome outcome = outcome_of(why.error, {.is_connected = true});
  end(outcome == Outcome::Closed ? Outcome::Incomplete : outcome);
}

// Views ------------------------------------------------------------------------------------------

struct GroupDispatcher::View {
  View(loop::Loop& thread_loop, std::uint64_t number, std::weak_ptr<const Endpoints> needed)
      : loop(thread_loop), id(number), user(std::move(needed)), draw(crypto::random_word()) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() {
    for (const std::shared_ptr<client::Core>& core : clients) {
      if (core != nullptr) core->break_off();
    }
  }

  // Takes in that members came or went. The connections of those that went end once unused.
  void refresh(const Group& group) {
    const std::uint64_t current = group.generation();
    if (generation == current) return;
    std::shared_ptr<const Members> changed = group.members();
    std::vector<std::shared_ptr<client::Core>> kept(changed->size());
    std::unordered_map<const Member*, std::size_t> places;
    for (std::size_t i = 0; i < changed->size(); ++i) places.emplace((*changed)[i].get(), i);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (clients[i] == nullptr) continue;
      const auto place = places.find((*members)[i].get());
      if (place == places.end()) {
        clients[i]->pool.close_all();
      } else {
        kept[place->second] = std::move(clients[i]);
      }
    }
    clients = std::move(kept);
    members = std::move(changed);
    generation = current;
  }

  loop::Loop& loop;
  const std::uint64_t id;                     // of the dispatcher
  const std::weak_ptr<const Endpoints> user;  // gone: so is the dispatcher
  Draw draw;
  std::uint64_t generation = 0;                        // of the members
  std::shared_ptr<const Members> members{};            // as this thread knows them
  std::vector<std::shared_ptr<client::Core>> clients;  // of the members; null until needed
  std::vector<Candidate> candidates;                   // memory to use
  std::optional<Upkeep> upkeep{};
  Scope copies;  // requests of a mirror
};

/// All of a loop.
struct GroupDispatcher::Views {
  // Removes those without a user, once there are twice as many as after the last time.
  void sweep() {
    if (all.size() < next_sweep) return;
    std::erase_if(all, [](const auto& one) { return one.second->user.expired(); });
    next_sweep = 2 * all.size();
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<View>> all{};  // by View::id
  std::size_t next_sweep = 0;
};

GroupDispatcher::View& GroupDispatcher::view() const {
  loop::Loop& loop = loop::Loop::current();
  Views& views = loop.attachments().get<Views>();
  const auto known = views.all.find(id_);
  if (known != views.all.end()) {
    keep_up(*known->second);
    return *known->second;
  }
  views.sweep();
  auto made = std::make_unique<View>(loop, id_, endpoints_);
  View& view = *views.all.emplace(id_, std::move(made)).first->second;
  keep_up(view);
  return view;
}

void GroupDispatcher::keep_up(View& view) const {
  if (!group_->take_over_upkeep()) return;
  try {
    view.upkeep.emplace(view.loop, group_, endpoints_);
  } catch (const std::bad_alloc&) {
    group_->leave_upkeep();
    throw;
  }
}

// Requests ---------------------------------------------------------------------------------------

struct GroupDispatcher::Attempts {
  RequestSpec& spec;
  std::optional<std::uint64_t> key{};
  loop::Instant deadline = loop::Instant::max();
  std::vector<const Member*> tried{};  // by all but the current one
  client::Reached reached{};
  std::string problems{};  // of the earlier ones
  std::size_t client = 0;  // a hash of its address
  unsigned count = 0;
  bool only_usable = false;  // see Group::Wish
};

GroupDispatcher::GroupDispatcher(std::shared_ptr<Group> group, const ReverseProxyOptions& options)
    : group_(std::move(group)),
      id_(last_group_id.fetch_add(1, std::memory_order_relaxed) + 1),
      is_http2_(options.versions == HttpVersions::Http2 ||
                std::ranges::all_of(group_->servers(), &ServerUrl::is_http2)),
      copies_(std::make_shared<std::atomic<std::size_t>>(0)) {
  const UpstreamOptions& told = group_->options();
  auto endpoints = std::make_shared<Endpoints>();
  for (std::size_t i = 0; i < told.targets.size(); ++i) {
    ReverseProxyOptions own = options;
    const std::optional<ClientTlsOptions>& tls = told.targets[i].tls;
    if (tls) own.tls = *tls;
    endpoints->emplace_back(group_->servers()[i], own);
  }
  endpoints_ = std::move(endpoints);
  if (!told.mirror.to) return;
  ReverseProxyOptions uncounted = options;
  uncounted.metrics.reset();
  mirror_ = std::make_shared<GroupDispatcher>(UpstreamAccess::group(*told.mirror.to), uncounted);
  if (mirror_->base() != base()) {
    throw std::invalid_argument("upstream " + told.name + ": the URLs of its mirror, " +
                                told.mirror.to->name() + ", have another path");
  }
}

GroupDispatcher::~GroupDispatcher() = default;

const std::optional<std::string>& GroupDispatcher::base() const noexcept {
  return group_->servers().front().base;
}

std::optional<std::uint64_t> GroupDispatcher::key_of(const Request& request) const {
  const UpstreamBalance& balance = group_->options().balance;
  if (balance.by != Balance::Hash) return std::nullopt;
  std::optional<std::string_view> text;
  std::array<char, Address::max_text_bytes> buffer;
  if (!balance.hash_header.empty()) {
    text = request.header(balance.hash_header);
  } else if (!balance.hash_cookie.empty()) {
    text = request.cookie(balance.hash_cookie);
  } else {
    const Address client = request.client_address();
    if (client.is_ip()) text = client.unmapped().format_host(buffer);
  }
  return text ? std::optional(key_hash(*text)) : std::nullopt;
}

GroupDispatcher::Chosen GroupDispatcher::choose(View& view, const Attempts& attempts) const {
  view.refresh(*group_);
  const Group::Wish wish{.key = attempts.key,
                         .tried = attempts.tried,
                         .now = view.loop.now(),
                         .only_usable = attempts.only_usable};
  const Group::Choice choice = group_->choose(*view.members, wish, view.draw, view.candidates);
  if (choice.refusal != Group::Refusal::None) return {.refusal = choice.refusal};
  const std::shared_ptr<Member>& member = (*view.members)[choice.index];
  Chosen chosen;
  try {
    chosen.passage = std::make_shared<Passage>(group_, member, view.loop, attempts.deadline);
  } catch (const std::bad_alloc&) {
    group_->release(*member);
    throw;
  }
  std::shared_ptr<client::Core>& client = view.clients[choice.index];
  if (client == nullptr) {
    const Endpoint& endpoint = (*endpoints_)[member->target];
    client = endpoint.make_client(view.loop, member->address);
  }
  chosen.client = client;
  return chosen;
}

// One that waits behind others does not try its luck before it is called, or stands first when the
// ejection of a member ends, which calls nobody.
Task<GroupDispatcher::Chosen> GroupDispatcher::wait_for_turn(View& view,
                                                             const Attempts& attempts) const {
  const UpstreamLimits& limits = group_->options().limits;
  const loop::Instant deadline =
      std::min(attempts.deadline, later(view.loop.now(), limits.queue_time));
  WaitingLine::Place place(group_->line(), view.loop, !attempts.tried.empty());
  if (!place.has_entered()) {
    add_one(group_->told.queue_full);
    throw NotTaken(group_->options(), "its servers are busy, and the queue is full");
  }
  add_one(group_->told.queued);
  bool tries = place.is_alone();
  while (true) {
    if (tries) {
      Chosen chosen = choose(view, attempts);
      if (chosen.refusal != Group::Refusal::Busy) co_return chosen;
      if (place.is_called()) {
        place.stand_again();
        continue;
      }
    }
    const loop::Instant now = view.loop.now();
    if (now >= deadline) break;
    view.refresh(*group_);
    const loop::Instant until = std::min(deadline, group_->next_return(*view.members, now));
    co_await client::TimedWait(view.loop, place.changed(), until - now);
    tries = place.is_called() || place.is_first();
  }
  if (view.loop.now() >= attempts.deadline) co_return Chosen();
  add_one(group_->told.queue_timeout);
  throw NotTaken(group_->options(), "its servers are busy, and none was free in time");
}

bool GroupDispatcher::keeps_content(const RequestSpec& spec) const noexcept {
  const std::shared_ptr<const BodyStream>* const stream = spec.content.stream();
  if (stream == nullptr || spec.expects_continue) return false;
  const UpstreamRetries& retries = group_->options().retries;
  if (retries.attempts == 1 && mirror_ == nullptr) return false;
  const std::optional<std::uint64_t>& length = (*stream)->length_bytes;
  return length && *length <= retries.content_bytes;
}

void GroupDispatcher::begin_attempt(Attempts& attempts, const std::shared_ptr<Passage>& passage,
                                    loop::Instant now) const {
  ++attempts.count;
  attempts.reached = {};
  RequestSpec& spec = attempts.spec;
  spec.reached = &attempts.reached;
  spec.watch = passage;
  if (attempts.deadline != loop::Instant::max()) spec.timeout = attempts.deadline - now;
}

// RFC 9110 §9.2.2. If there was no connection, or the server says that it did nothing, any request
// may be repeated.
GroupDispatcher::Repeat GroupDispatcher::may_repeat(const Attempts& attempts,
                                                    Outcome outcome) const noexcept {
  const UpstreamRetries& retries = group_->options().retries;
  if (retries.attempts == 1 || outcome == Outcome::Local) return Repeat::No;
  if (attempts.reached.has_informed) return Repeat::No;
  const RequestSpec& spec = attempts.spec;
  const bool has_answer = outcome == Outcome::Unavailable;
  const bool is_stream = spec.content.kind() == Body::Kind::Stream;
  if (is_stream && (has_answer || attempts.reached.has_sent)) return Repeat::No;
  if (outcome == Outcome::ConnectFailed && attempts.tried.size() < most_tried) return Repeat::Free;
  if (attempts.count >= retries.attempts) return Repeat::No;
  if (!attempts.reached.is_connected || attempts.reached.is_unprocessed) return Repeat::Counted;
  if (!client::is_idempotent(spec.method)) return Repeat::No;
  const bool is_wanted = has_answer                    ? retries.on_unavailable
                         : outcome == Outcome::Timeout ? retries.on_timeout
                                                       : true;
  return is_wanted ? Repeat::Paid : Repeat::No;
}

bool GroupDispatcher::pay_for_retry(const Attempts& attempts, Outcome outcome) const noexcept {
  const bool is_paid = outcome == Outcome::Unavailable
                           ? group_->budget().take_for_answer(attempts.client)
                           : group_->budget().take(group_->outstanding());
  if (!is_paid) add_one(group_->told.retries_refused);
  return is_paid;
}

void GroupDispatcher::give_back_retry(const Attempts& attempts, Outcome outcome) const noexcept {
  RetryBudget& budget = group_->budget();
  return outcome == Outcome::Unavailable ? budget.give_back_for_answer(attempts.client)
                                         : budget.give_back();
}

// An answer is better than what members that are ejected or down would say, or than waiting.
Task<GroupDispatcher::Chosen> GroupDispatcher::choose_again(View& view, Attempts& attempts,
                                                            Passage& failed,
                                                            Outcome outcome) const {
  /// Gives back what was paid for a retry that is not made, for whatever reason.
  struct Payment {
    ~Payment() {
      if (is_open) by.give_back_retry(attempts, outcome);
    }
    const GroupDispatcher& by;
    const Attempts& attempts;
    const Outcome outcome;
    bool is_open = false;
  };

  const Repeat repeat = may_repeat(attempts, outcome);
  if (repeat == Repeat::No) co_return Chosen();
  Payment payment{.by = *this, .attempts = attempts, .outcome = outcome};
  if (repeat == Repeat::Paid) {
    if (!pay_for_retry(attempts, outcome)) co_return Chosen();
    payment.is_open = true;
  }
  if (repeat == Repeat::Free) --attempts.count;
  attempts.tried.push_back(&failed.member());
  attempts.only_usable = outcome == Outcome::Unavailable;
  Chosen chosen = choose(view, attempts);
  if (chosen.refusal == Group::Refusal::Busy && !attempts.only_usable) {
    Chosen waited = co_await wait_for_turn(view, attempts);
    chosen = std::move(waited);
  }
  if (chosen.passage == nullptr) co_return chosen;
  payment.is_open = false;
  add_one(failed.member().retries);
  co_return chosen;
}

Task<Fetched> GroupDispatcher::fetch(Request& request, RequestSpec& spec) const {
  if (keeps_content(spec)) {
    std::string content = co_await request.text(group_->options().retries.content_bytes);
    spec.content = Body(std::make_shared<const std::string>(std::move(content)));
  }
  View& view = this->view();
  Attempts attempts{.spec = spec,
                    .key = key_of(request),
                    .deadline = later(view.loop.now(), spec.timeout),
                    .client = hash_of(request.client_address())};
  mirror(view, attempts);
  group_->budget().pay(attempts.client);
  Chosen chosen;
  chosen.refusal = Group::Refusal::Busy;
  if (!group_->line().has_first()) chosen = choose(view, attempts);
  if (chosen.refusal == Group::Refusal::Busy) {
    Chosen waited = co_await wait_for_turn(view, attempts);
    chosen = std::move(waited);
    if (view.loop.now() >= attempts.deadline) {
      co_return Problem{Errc::TimedOut, "upstream " + group_->options().name +
                                            ": none of its servers was free within the time of "
                                            "the request"};
    }
  }
  if (chosen.refusal != Group::Refusal::None) {
    add_one(group_->told.no_target);
    throw NotTaken(group_->options(), "none of its servers is up");
  }
  while (true) {
    const std::shared_ptr<Passage> passage = chosen.passage;
    begin_attempt(attempts, passage, view.loop.now());
    Fetched got = co_await client::fetch(chosen.client, spec);
    const Outcome outcome =
        got ? outcome_of((*got)->head().status) : passage->end(got.error().error, attempts.reached);
    if (got) {
      passage->note_head(**got);
      if (outcome != Outcome::Unavailable) co_return got;
    }
    Chosen next = co_await choose_again(view, attempts, *passage, outcome);
    chosen = std::move(next);
    const std::string problem =
        described(passage->member(), got ? (*got)->unexpected_status().text : got.error().text);
    if (chosen.passage == nullptr) {
      if (got) co_return got;
      co_return Problem{got.error().error, attempts.problems + problem};
    }
    attempts.problems.append(problem).append("; then ");
    if (got) (*got)->drop();  // the next target does not wait for the rest
  }
}

// Mirrors ----------------------------------------------------------------------------------------

void GroupDispatcher::mirror(View& view, const Attempts& attempts) const {
  if (mirror_ == nullptr) return;
  const UpstreamMirror& options = group_->options().mirror;
  const RequestSpec& spec = attempts.spec;
  const bool switches = spec.forwarding && spec.forwarding->offers_upgrade;
  if (switches || spec.content.kind() == Body::Kind::Stream) return;
  if (view.draw.unit() >= options.share) return;
  if (copies_->fetch_add(1) >= options.requests) {
    copies_->fetch_sub(1);
    return add_one(group_->told.mirror_dropped);
  }
  // Counts the copy until its end.
  const std::shared_ptr<void> counted(copies_.get(),
                                      [copies = copies_](void*) { copies->fetch_sub(1); });
  Chosen chosen = mirror_->choose(mirror_->view(), attempts);
  if (chosen.passage == nullptr) return add_one(group_->told.mirror_dropped);
  add_one(group_->told.mirrored);
  auto copy = std::make_unique<RequestSpec>(spec);
  std::optional<client::Forwarding>& passed_on = copy->forwarding;
  if (passed_on) passed_on->on_interim = nullptr;
  view.copies.spawn(send_copy(std::move(chosen), std::move(copy), counted));
}

// Owns all that it uses, as the request may end before. The rest of a response is of no interest.
Task<> GroupDispatcher::send_copy(Chosen chosen, std::unique_ptr<RequestSpec> spec,
                                  std::shared_ptr<const void> /*counted*/) {
  client::Reached reached;
  spec->reached = &reached;
  spec->watch = chosen.passage;
  Fetched got = co_await client::fetch(chosen.client, std::move(spec));
  if (!got) {
    chosen.passage->end(got.error().error, reached);
    co_return;
  }
  chosen.passage->end(outcome_of((*got)->head().status));
  co_await (*got)->discard();
}

}  // namespace skua::proxy
