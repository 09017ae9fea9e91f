#include "calls/service_core.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <typeinfo>

#include "base/process/fork_generation.h"
#include "calls/call_recorder.h"
#include "calls/service_client.h"
#include "calls/service_json.h"
#include "orc/calls/quiet_thread.h"

namespace orc::detail {

namespace {

constexpr std::size_t max_refused_clients = 32;  // that learn why
constexpr auto patience_with_silence = std::chrono::seconds(3);
constexpr auto between_looks_for_clients = std::chrono::seconds(2);
constexpr auto between_figures = std::chrono::seconds(1);

[[nodiscard]] call_error too_late() { return {.code = call_errc::lost, .text = "the call was too late to begin"}; }

// Half of what the others leave, at least one of the rest. So there is always room, however many are greedy.
[[nodiscard]] std::size_t share_of(std::size_t limit, std::size_t of_others) noexcept {
  return of_others < limit ? (limit - of_others + 1) / 2 : 0;
}

[[nodiscard]] std::string demangled(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? text.get() : type.name();
}

}  // namespace

service_core::service_core(orc::participant& by, std::string name, call_types types, raw_handler handler,
                           service_options options, std::chrono::nanoseconds patience)
    : participant_(by),
      name_(std::move(name)),
      types_(std::move(types)),
      handler_(std::move(handler)),
      options_(std::move(options)),
      patience_(patience),
      reply_hash_(hash_of(types_.reply)),
      generation_(fork_generation()),
      recorder_(options_.recorded ? std::make_unique<call_recorder>(participant_, name_, types_) : nullptr),
      waiting_(options_.queue, options_.queue_bytes, options_.replace_waiting) {}

service_core::~service_core() = default;

result service_core::start() {
  const auto stays = [](const result& r) { return r || r.code() == errc::no_broker; };
  if (recorder_) {
    if (result recorded = recorder_->start(options_.transports); !stays(recorded)) return recorded;
  }
  figures_ = participant_.register_topic(
      name_, {.transports = options_.transports, .type = service_type(types_, options_.interfaces)});
  if (!figures_) {
    if (recorder_) recorder_->stop();
    return figures_.result();
  }
  try {
    for (std::size_t n = 0; n < options_.threads; ++n)
      threads_.push_back(start_quiet([self = shared_from_this()] { self->work(); }));
  } catch (const std::system_error& problem) {
    begin_stop();
    (void)join();
    return {errc::system_error, "cannot start the threads of service " + name_ + ": " + problem.what()};
  }
  started_.store(true, std::memory_order_release);
  return figures_.result();
}

void service_core::begin_stop() noexcept {
  if (stopping_.exchange(true)) return;
  (void)participant_.unregister_topic(name_);
  decltype(clients_) ending;
  {
    const std::lock_guard lock(clients_mutex_);
    ending.swap(clients_);
  }
  for (const auto& [id, client] : ending) client->end();
  wake();
  const std::lock_guard lock(clients_mutex_);
  leaving_.swap(ending);
}

bool service_core::runs_for_others() const noexcept {
  for (const running* each = handlers_; each != nullptr; each = each->next) {
    if (each->thread != std::this_thread::get_id()) return true;
  }
  return false;
}

bool service_core::wait_for_handlers(monotonic::time_point until) noexcept {
  std::unique_lock lock(handlers_mutex_);
  const auto all_returned = [&] { return !runs_for_others(); };
  if (until != monotonic::time_point::max()) return returned_.wait_until(lock, until, all_returned);
  returned_.wait(lock, all_returned);
  return true;
}

void service_core::finish(std::thread& thread) noexcept {
  bool is_let_go = false;
  {
    const std::lock_guard lock(handlers_mutex_);
    for (const running* each = handlers_; each != nullptr; each = each->next)
      is_let_go = is_let_go || (has_let_go_ && each->thread == thread.get_id());
  }
  if (is_let_go)
    thread.detach();
  else
    detail::finish(thread);
}

std::thread service_core::join() noexcept {
  decltype(threads_) threads;
  decltype(leaving_) clients;
  {
    const std::lock_guard lock(clients_mutex_);
    threads.swap(threads_);
    clients.swap(leaving_);
  }
  std::thread own;
  const auto wait_for = [&](std::thread& thread) {
    if (thread.get_id() == std::this_thread::get_id())
      own = std::move(thread);
    else
      finish(thread);
  };
  for (std::thread& thread : threads) wait_for(thread);
  for (const auto& [id, client] : clients) {
    std::thread thread = client->take_thread();
    wait_for(thread);
  }
  if (recorder_) recorder_->stop();
  if (!own.joinable() && !has_let_go_) handler_ = nullptr;  // what it refers to may be gone from now on
  return own;
}

void service_core::end(monotonic::time_point begun) noexcept {
  begin_stop();
  const bool is_long = patience_ > monotonic::time_point::max() - begun;
  (void)wait_for_handlers(is_long ? monotonic::time_point::max() : begun + patience_);
  {
    const std::lock_guard lock(handlers_mutex_);
    has_let_go_ = handlers_ != nullptr;
  }
  std::thread own = join();
  finish(own);
}

bool service_core::leave_owner(monotonic::time_point until) noexcept { return !withdraw_ || withdraw_(until); }

service_core::running::running(service_core& in) noexcept : of(in) {
  const std::lock_guard lock(of.handlers_mutex_);
  next = of.handlers_;
  of.handlers_ = this;
}

service_core::running::~running() {
  const std::lock_guard lock(of.handlers_mutex_);
  running** at = &of.handlers_;
  while (*at != this) at = &(*at)->next;
  *at = next;
  if (of.is_stopping()) of.returned_.notify_all();
}

// ---- clients ----

void service_core::come(std::uint64_t client, const publication_state& publication) {
  const std::lock_guard lock(clients_mutex_);
  if (is_stopping()) return;
  auto found = clients_.find(client);
  if (found != clients_.end()) {
    if (found->second->publication().id == publication.id) return found->second->set_listed(true);
    // Another publication of this name. look_after() takes it when the old client has ended.
    found->second->set_successor(publication);
    found->second->set_listed(true);
    found->second->end();
    return;
  }
  const bool refused = !has_place(publication, false);
  if (refused && !has_place(publication, true)) {
    turned_away_ = true;
    return;
  }
  const auto made = std::make_shared<service_client>(*this, client, publication, refused);
  made->start();
  clients_.emplace(client, made);
}

// Whether the program has a place left, or one of those for clients that learn that they are refused. So that no
// program takes all of them, it has at most half of what the others leave. Programs at an address could be any number,
// and have seven eighths together.
bool service_core::has_place(const publication_state& publication, bool refused) const {
  const std::string program = program_of(publication);
  const std::string origin = origin_of(publication);
  std::size_t all = 0;
  std::size_t own = 0;
  std::size_t of_origin = 0;
  std::size_t leaving = 0;
  for (const auto& [id, each] : clients_) {
    if (each->is_refused() != refused || each->has_ended()) continue;
    if (each->is_leaving()) {
      ++leaving;
      continue;
    }
    ++all;
    own += each->program() == program ? 1U : 0U;
    of_origin += !origin.empty() && each->origin() == origin ? 1U : 0U;
  }
  const std::size_t most = refused ? max_refused_clients : options_.max_clients;
  const std::size_t left = most - std::min(most, all - of_origin);
  // A client that leaves has its thread until the handler that it waits for has returned.
  return own < share_of(most, all - own) && (origin.empty() || of_origin < left - left / 8) && all + leaving < 2 * most;
}

void service_core::go(std::uint64_t client) {
  const std::lock_guard lock(clients_mutex_);
  const auto found = clients_.find(client);
  if (found != clients_.end()) found->second->set_listed(false);
}

void service_core::go_but(const std::set<std::uint64_t>& listed) {
  const std::lock_guard lock(clients_mutex_);
  for (const auto& [id, client] : clients_) {
    if (!listed.contains(id)) client->set_listed(false);
  }
}

void service_core::look_after() {
  std::vector<std::shared_ptr<service_client>> ended;
  {
    const std::lock_guard lock(clients_mutex_);
    for (const auto& [id, client] : clients_) {
      if (client->is_gone()) client->end_until_listed();
    }
    std::erase_if(clients_, [&](const auto& each) {
      if (!each.second->has_ended()) return false;
      ended.push_back(each.second);
      return true;
    });
  }
  for (const auto& client : ended) {
    std::thread thread = client->take_thread();
    detail::finish(thread);
    if (const auto successor = client->successor(); successor && client->is_listed())
      come(client->id(), *successor);
    else if (client->wants_again())
      come(client->id(), client->publication());
  }
  end_silent();
  promote_refused();
  publish();
}

// Ends clients that have not said hello, when others need their places.
void service_core::end_silent() {
  const std::lock_guard lock(clients_mutex_);
  if (clients_.size() < options_.max_clients / 2) return;
  const auto before = monotonic::now() - patience_with_silence;
  for (const auto& [id, client] : clients_) {
    if (client->has_greeted() || client->is_leaving() || client->made_at() >= before) continue;
    client->end();
    turned_away_ = true;
  }
}

bool service_core::wants_clients_again() {
  const std::lock_guard lock(clients_mutex_);
  const auto now = monotonic::now();
  if (!turned_away_ || now < ask_again_at_) return false;
  const auto served = std::ranges::count_if(
      clients_, [](const auto& each) { return !each.second->is_refused() && !each.second->is_leaving(); });
  if (static_cast<std::size_t>(served) >= options_.max_clients) return false;
  turned_away_ = false;
  ask_again_at_ = now + between_looks_for_clients;
  return true;
}

// Gives a free place to a client that was refused. It ends, and comes again.
void service_core::promote_refused() {
  const std::lock_guard lock(clients_mutex_);
  for (const auto& [id, client] : clients_) {
    if (!client->is_refused() || client->is_leaving() || !has_place(client->publication(), false)) continue;
    client->set_successor(client->publication());
    client->end();
    return;  // the others in a moment
  }
}

void service_core::publish() {
  const auto now = monotonic::now();
  if (now < publish_at_) return;
  const service_figures current = figures();
  if (current == published_ && publish_at_ != monotonic::time_point()) return;
  published_ = current;
  publish_at_ = now + between_figures;
  const std::string json = to_json(current);
  (void)figures_.send(json.data(), json.size());
}

// ---- calls ----

void service_core::admit(const std::shared_ptr<service_call>& call, monotonic::time_point now) {
  waiting_calls::admission outcome;
  {
    const std::lock_guard lock(queue_mutex_);
    outcome = waiting_.add(call, now);
  }
  if (outcome.replaced) outcome.replaced->client->refuse(*outcome.replaced, {.code = call_errc::replaced});
  for (const auto& late : outcome.late) late->client->refuse(*late, too_late());
  if (!outcome.admitted) outcome.displaced.push_back(call);
  for (const auto& each : outcome.displaced)
    each->client->refuse(*each, {.code = call_errc::busy, .text = name_ + " is busy: too many requests wait"});
  if (outcome.admitted && !is_inline()) work_.ring();
}

std::shared_ptr<service_call> service_core::next_of(const service_client& client) {
  const std::lock_guard lock(queue_mutex_);
  return waiting_.first_of(client);
}

bool service_core::withdraw(const service_call& call) {
  const std::lock_guard lock(queue_mutex_);
  return waiting_.remove(call);
}

waiting_calls::calls service_core::withdraw_all(const service_client& client) {
  const std::lock_guard lock(queue_mutex_);
  return waiting_.remove_all(client);
}

service_core::turn service_core::take_turn(const service_client& client) {
  std::unique_lock lock(queue_mutex_);
  const auto ends = [&] { return is_stopping() || client.is_leaving(); };
  if (ends()) return turn::never;
  if (!std::exchange(turn_is_taken_, true)) {
    served_last_ = client.program();
    return turn::at_once;
  }
  bool mine = false;
  std::string program = client.program();
  const auto place = wait_for_turn_.insert(wait_for_turn_.end(), {&mine, &program});
  while (!mine && !ends()) {
    const std::uint32_t ticket = work_.ticket();
    lock.unlock();
    work_.wait(ticket, deadline(-1));
    lock.lock();
  }
  if (!ends()) return turn::after_a_wait;
  if (mine)
    pass_turn();
  else
    wait_for_turn_.erase(place);
  return turn::never;
}

bool service_core::take_free_turn() noexcept {
  const std::lock_guard lock(queue_mutex_);
  if (turn_is_taken_ || !waiting_.empty() || is_stopping()) return false;
  turn_is_taken_ = true;
  return true;
}

void service_core::give_turn() noexcept {
  const std::lock_guard lock(queue_mutex_);
  pass_turn();
}

void service_core::pass_turn() noexcept {
  turn_is_taken_ = !wait_for_turn_.empty();
  if (!turn_is_taken_) return;
  // Many clients of one program do not keep others from their turn.
  auto next = std::ranges::find_if(wait_for_turn_, [&](const auto& each) { return *each.program != served_last_; });
  if (next == wait_for_turn_.end()) next = wait_for_turn_.begin();
  served_last_.swap(*next->program);
  *next->gets_it = true;
  wait_for_turn_.erase(next);
  work_.ring();
}

void service_core::wake() noexcept {
  const std::lock_guard lock(queue_mutex_);  // a thread that has not seen what changed has its ticket
  work_.ring();
}

void service_core::work() noexcept {
  for (;;) {
    const std::uint32_t ticket = work_.ticket();
    if (is_stopping()) return;
    std::shared_ptr<service_call> call;
    {
      const std::lock_guard lock(queue_mutex_);
      call = waiting_.take_next();
    }
    if (call)
      run(*call, monotonic::now(), client_was::waiting);
    else
      work_.wait(ticket, deadline(-1));
  }
}

void service_core::run(service_call& call, monotonic::time_point now, client_was client) {
  {
    const running runs(*this);
    // The client knows already, or cannot be reached.
    if (now >= call.deadline || call.cancelled || call.abandoned || is_stopping() ||
        (client != client_was::heard && !call.client->is_connected()))
      return call.client->refuse(call, too_late());
    if (recorder_) call.started_ns = call_recorder::now_ns();
    run_handler(call);
  }
  ++calls_;
  if (call.error) ++failed_;
  call.client->finish(call);
}

void service_core::run_handler(service_call& call) {
  call_context context(call);
  try {
    handler_(call.request(), context, call);
  } catch (const std::exception& thrown) {
    call.error =
        call_error{.code = call_errc::exception, .text = thrown.what(), .exception_type = demangled(typeid(thrown))};
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    call.error = call_error{.code = call_errc::exception,
                            .text = "the handler threw something that is no std::exception",
                            .exception_type = type != nullptr ? demangled(*type) : std::string()};
  }
}

service_figures service_core::figures() const {
  service_figures now{.calls = calls_, .failed = failed_, .refused = refused_, .dropped = dropped_};
  {
    const std::lock_guard lock(queue_mutex_);
    now.waiting = waiting_.size();
  }
  const std::lock_guard lock(clients_mutex_);
  now.clients = static_cast<std::size_t>(std::ranges::count_if(
      clients_, [](const auto& each) { return !each.second->is_refused() && each.second->is_connected(); }));
  return now;
}

}  // namespace orc::detail
