#include "simulation/service_world.h"

#include <algorithm>

namespace orc::test {

namespace {

using namespace std::chrono_literals;
using detail::call_kind;
using orc::call_errc;
using conversation = detail::client_conversation;
using answer = detail::server_check::answer::server;

constexpr std::size_t broker_host = 0;
constexpr std::size_t server_host = 1;
constexpr auto tick_every = 20ms;       // client_channel's slice
constexpr auto greeting_slice = 100ms;  // service_client's
constexpr auto idle_slice = 1000ms;
constexpr auto look_after_every = 200ms;
constexpr std::uint64_t type_hash = 7;

}  // namespace

// ---- the client ----

sim_client::sim_client(service_world& world, std::size_t host, std::size_t index)
    : world_(world), host_(host), index_(index) {
  begin();
}
sim_client::~sim_client() = default;

void sim_client::begin() {
  program_ = std::make_shared<char>();
  auto& net = world_.net_;
  const bool departure_ends = world_.options_.departure_ends;
  id_ = world_.time_.next() | 1U;
  conversation_ = {};
  (void)conversation_.add_types(world_.time_.now());
  conversation_.begin();
  calls_ = std::make_unique<sim_stream<sim_message>>(net, host_, server_host, false, departure_ends,
                                                     [this, id = id_](const sim_message& each, bool) {
                                                       if (world_.server_) world_.server_->take(id, each);
                                                     });
  replies_ = std::make_unique<sim_stream<sim_message>>(
      net, server_host, host_, true, departure_ends,
      [this, program = std::weak_ptr(program_)](const sim_message& each, bool missed) {
        if (program.expired()) return;
        if (stopped_)
          inbox_.emplace_back(each, missed);
        else
          take(each, missed);
      });
  session_ = std::make_unique<sim_session>(world_.broker_, host_);
  const std::uint64_t publication = world_.time_.next() | 1U;
  calls_->publish(publication);
  session_->declare({sim_topic::kind::calls, id_}, publication);
  session_->request({sim_topic::kind::replies, id_}, [this](auto now, bool pushed) { replies_->update(now, pushed); });
  tick();
}

void sim_client::tick() {
  world_.time_.after(tick_every, [this, program = std::weak_ptr(program_)] {
    if (!program.expired()) tick();
  });
  if (stopped_) return;
  act(conversation_.follow_link(replies_->connected()));
  const auto now = world_.time_.now();
  act(conversation_.take_silence(replies_->connected(), !unsent_.empty(), now));
  const auto sent = open_;
  for (const auto& each : sent) {
    if (each.of->deadline > now) continue;
    say(call_kind::cancel, each.id);
    std::erase_if(open_, [&](const auto& one) { return one.id == each.id; });
    end(*each.of, call_errc::deadline_exceeded);
  }
  const auto unsent = unsent_;
  for (sim_call* const each : unsent) {
    if (each->deadline > now) continue;
    std::erase(unsent_, each);
    end(*each, call_errc::no_service);
  }
}

void sim_client::call(scheduler::duration allowed) {
  sim_call& made = world_.make_call(allowed);
  if (stopped_) return end(made, call_errc::cancelled);
  act(conversation_.follow_link(replies_->connected()));
  if (conversation_.may_send(1))
    send_request(made);
  else
    unsent_.push_back(&made);
}

void sim_client::send_request(sim_call& call) {
  const std::uint64_t id = conversation_.use_next_id();
  open_.push_back({id, &call});
  const auto left = static_cast<std::uint64_t>(std::max<std::int64_t>((call.deadline - world_.time_.now()).count(), 0));
  calls_->send(
      {.header = {.kind = call_kind::request, .id = id, .remaining_ns = left, .type = type_hash}, .call = call.number});
}

void sim_client::say(call_kind kind, std::uint64_t id) { calls_->send({.header = {.kind = kind, .id = id}}); }

void sim_client::say_hello(std::uint64_t pair) {
  calls_->send({.header = {.kind = call_kind::hello, .id = pair, .remaining_ns = conversation_.last_id()}});
}

void sim_client::take(const sim_message& received, bool missed) {
  act(conversation_.follow_link(replies_->connected()));
  const auto& header = received.header;
  if (header.kind == call_kind::accepted || header.kind == call_kind::running) {
    act(conversation_.take_name(header.remaining_ns, world_.time_.now()));
    if (!conversation_.is_linked()) return;
  }
  switch (header.kind) {
    case call_kind::welcome: act(conversation_.take_welcome(header.id, world_.time_.now())); break;
    case call_kind::accepted:
      if (conversation_.take_verdict(1, header.id, conversation::verdict::accepted)) {
        for (sim_call* const each : std::exchange(unsent_, {})) send_request(*each);
      }
      break;
    case call_kind::result:
    case call_kind::error: {
      const auto at = std::ranges::find(open_, header.id, &open::id);
      if (at == open_.end()) break;
      sim_call& call = *at->of;
      open_.erase(at);
      if (world_.time_.now() >= call.deadline) {
        end(call, call_errc::deadline_exceeded);
      } else if (header.kind == call_kind::error) {
        end(call, call_errc::lost);
      } else {
        if (received.call != call.number) call.ended += 100;  // the reply of another call
        end(call, call_errc::ok);
      }
      break;
    }
    case call_kind::running: {
      const auto sent = open_;
      for (const auto& each : sent) {
        if (each.id > header.id || std::ranges::binary_search(received.ids, each.id)) continue;
        std::erase_if(open_, [&](const auto& one) { return one.id == each.id; });
        end(*each.of, call_errc::lost);
      }
      break;
    }
    case call_kind::bye: act(conversation_.take_bye()); break;
    default: break;
  }
  if (missed) act(conversation_.take_missed(!open_.empty()));
}

void sim_client::act(const conversation::actions& now) {
  if (now.ends != conversation::end::none) end_sent(call_errc::server_died);
  if (now.check) {
    conversation_.check_begun();
    ask_broker(world_.time_.now() + conversation_.check_patience());
  }
  if (now.greet && conversation_.verdict_on(1) == conversation::verdict::none) say_hello(1);
  if (now.ask) say(call_kind::open_calls, conversation_.last_id());
  if (now.restart) restart();  // with another id: as if the program were another
}

// server_check
void sim_client::ask_broker(scheduler::time until) {
  const bool reached = world_.broker_.reachable_from(host_);
  world_.time_.after(reached ? 2 * world_.net_.delay() : 50ms, [this, reached, until,
                                                                program = std::weak_ptr(program_)] {
    if (program.expired()) return;
    const bool answered = reached && world_.broker_.reachable_from(host_);
    if (!answered && world_.time_.now() < until) return ask_broker(until);
    conversation_.check_ended();
    answer found = answer::no_broker;
    if (answered) {
      const auto* const service = world_.broker_.find({});
      const auto* const replies = world_.broker_.find({sim_topic::kind::replies, id_});
      found = !service || !replies ? answer::unpublished : service->by == replies->by ? answer::same : answer::other;
    }
    act(conversation_.take_check(found, replies_->connected(), world_.time_.now()));
  });
}

void sim_client::end_sent(call_errc why) {
  for (const auto& each : std::exchange(open_, {})) end(*each.of, why);
}

void sim_client::end(sim_call& call, call_errc why) {
  ++call.ended;
  call.how = why;
}

void sim_client::stop(bool stopped) {
  stopped_ = stopped;
  session_->stop(stopped);
  if (stopped) return;
  for (const auto& [each, missed] : std::exchange(inbox_, {})) take(each, missed);
}

void sim_client::restart() {
  end_sent(call_errc::closed);
  for (sim_call* const each : std::exchange(unsent_, {})) end(*each, call_errc::closed);
  inbox_.clear();
  calls_->unpublish();
  // The connections outlive the program, until their last packets have arrived.
  world_.time_.after(30s, [old = std::shared_ptr(std::move(calls_)), from = std::shared_ptr(std::move(replies_))] {});
  session_.reset();
  stopped_ = false;
  begin();
}

void sim_client::break_streams() {
  calls_->break_silently();
  replies_->break_silently();
}

// ---- the server ----

sim_server::sim_server(service_world& world, std::size_t host) : world_(world), host_(host) { begin(); }
sim_server::~sim_server() { world_.broker_.remove(watch_); }

void sim_server::begin() {
  program_ = std::make_shared<char>();
  session_ = std::make_unique<sim_session>(world_.broker_, host_);
  session_->declare({}, world_.time_.next() | 1U);
  watch_ = std::make_shared<sim_broker::watch>();
  watch_->host = host_;
  watch_->changed = [this](const sim_topic& topic, std::optional<std::uint64_t> publication) {
    if (publication) return come(topic.client, *publication);
    if (const auto at = clients_.find(topic.client); at != clients_.end()) at->second->listed = false;
  };
  watch_->complete = [this](const auto& listed) {
    for (const auto& [topic, publication] : listed) come(topic.client, publication);
    for (const auto& [id, each] : clients_) {
      const auto is_it = [&, client = id](const auto& entry) { return entry.first.client == client; };
      if (std::ranges::none_of(listed, is_it)) each->listed = false;
    }
  };
  world_.broker_.add(watch_);
  look_after();
}

void sim_server::end_program() {
  world_.broker_.remove(watch_);
  for (const auto& [id, each] : clients_) {
    each->ended = each->leaving = true;
    if (sim_client* const client = client_of(id)) {
      client->calls_->release();
      client->replies_->unpublish();
    }
  }
  clients_.clear();
  inbox_.clear();
  session_.reset();
}

void sim_server::restart() {
  end_program();
  stopped_ = false;
  begin();
}

void sim_server::stop(bool stopped) {
  stopped_ = watch_->stopped = stopped;
  session_->stop(stopped);
  if (stopped) return;
  for (const auto& [client, each] : std::exchange(inbox_, {})) take(client, each);
}

sim_client* sim_server::client_of(std::uint64_t id) const {
  for (const auto& each : world_.clients_) {
    if (each->id_ == id) return each.get();
  }
  return nullptr;
}

void sim_server::come(std::uint64_t client, std::uint64_t publication) {
  const auto found = clients_.find(client);
  if (found != clients_.end()) {
    found->second->listed = true;
    if (found->second->publication == publication) return;
    found->second->successor = publication;
    return end(found->second);
  }
  auto made = std::make_shared<served>(served{.client = client, .publication = publication});
  made->number = world_.time_.next() | 1U;
  clients_.emplace(client, made);
  set_up(made);
}

void sim_server::set_up(const std::shared_ptr<served>& of) {
  sim_client* const client = client_of(of->client);
  if (client == nullptr) {
    of->ended = true;
    return;
  }
  const std::uint64_t publication = world_.time_.next() | 1U;
  client->replies_->publish(publication);
  session_->request({sim_topic::kind::calls, of->client}, [this, id = of->client](auto now, bool pushed) {
    if (sim_client* const by = client_of(id)) by->calls_->update(now, pushed);
  });
  session_->declare({sim_topic::kind::replies, of->client}, publication);
  of->is_set_up = true;
  wake(of);
}

// The client's thread looks around: after each message, and after a slice without one.
void sim_server::wake(const std::shared_ptr<served>& of) {
  if (of->ended) return;
  sim_client* const client = client_of(of->client);
  if (!stopped_) {
    if (client == nullptr) of->leaving = true;
    const auto news = of->conversation.follow_link(client != nullptr && client->calls_->connected());
    if (news.welcome) say(*of, {.header = {.kind = call_kind::welcome, .id = of->number}});
    if (news.has_gone) of->open.clear();
    if (of->leaving) {
      say(*of, {.header = {.kind = call_kind::bye}});
      if (client != nullptr) {
        client->calls_->release();
        client->replies_->unpublish();
      }
      session_->release({sim_topic::kind::calls, of->client});
      session_->withdraw({sim_topic::kind::replies, of->client});
      of->ended = true;
      return;
    }
  }
  const std::uint64_t number = ++of->wakes;
  const auto slice = of->conversation.is_greeted() ? idle_slice : greeting_slice;
  world_.time_.after(slice, [this, of, number, program = std::weak_ptr(program_)] {
    if (!program.expired() && number == of->wakes) wake(of);
  });
}

void sim_server::end(const std::shared_ptr<served>& of) {
  of->leaving = true;
  wake(of);
}

void sim_server::look_after() {
  world_.time_.after(look_after_every, [this, program = std::weak_ptr(program_)] {
    if (!program.expired()) look_after();
  });
  if (stopped_) return;
  const auto clients = clients_;
  for (const auto& [id, each] : clients) {
    const sim_client* const client = client_of(id);
    if (!each->listed && !each->leaving && !(client && client->calls_->connected())) {
      each->was_gone = true;
      end(each);
    }
    if (!each->ended) continue;
    clients_.erase(id);
    if (each->listed && (each->successor || each->was_gone)) come(id, each->successor.value_or(each->publication));
  }
}

void sim_server::say(const served& of, sim_message what) {
  if (sim_client* const client = client_of(of.client); client && of.is_set_up) client->replies_->send(std::move(what));
}

void sim_server::take(std::uint64_t client, const sim_message& received) {
  if (stopped_) {
    inbox_.emplace_back(client, received);
    return;
  }
  const auto at = clients_.find(client);
  if (at == clients_.end() || at->second->ended) return;
  const auto of = at->second;
  take(of, received);
  wake(of);
}

void sim_server::take(const std::shared_ptr<served>& of, const sim_message& received) {
  auto& told = of->conversation;
  const auto& header = received.header;
  std::uint64_t missing = 0;
  switch (header.kind) {
    case call_kind::hello:
      if (!told.take_hello(header.remaining_ns)) {
        of->leaving = true;
        break;
      }
      (void)told.accept(type_hash);
      say(*of, {.header = {.kind = call_kind::accepted, .id = header.id, .remaining_ns = of->number}});
      break;
    case call_kind::request: {
      const auto news = told.take_request(header.id, missing);
      if (news == detail::server_conversation::news::bad) break;
      if (news == detail::server_conversation::news::taken_after_a_gap) report(*of, header.id - 1);
      if (!told.accepts(header.type)) {
        say(*of, {.header = {.kind = call_kind::error, .id = header.id}});
        break;
      }
      of->open[header.id] = received.call;
      if (world_.time_.chance(70)) {
        run(of, header.id, received.call);
      } else {
        world_.time_.after(world_.time_.between(0ms, 300ms),
                           [this, of, id = header.id, call = received.call, program = std::weak_ptr(program_)] {
                             if (!program.expired() && of->open.contains(id)) run(of, id, call);
                           });
      }
      break;
    }
    case call_kind::cancel: of->open.erase(header.id); break;
    case call_kind::open_calls:
      if (told.take_last_id(header.id, missing)) report(*of, header.id);
      break;
    case call_kind::bye: of->leaving = true; break;
    default: break;
  }
}

void sim_server::run(const std::shared_ptr<served>& of, std::uint64_t id, std::uint64_t call) {
  ++world_.calls_[call].executed;
  if (!of->ended) say(*of, {.header = {.kind = call_kind::result, .id = id, .type = type_hash}, .call = call});
  of->open.erase(id);
}

void sim_server::report(served& of, std::uint64_t last_sent) {
  sim_message all{.header = {.kind = call_kind::running, .id = last_sent, .remaining_ns = of.number}};
  for (const auto& [id, call] : of.open) all.ids.push_back(id);
  say(of, std::move(all));
}

// ---- the world ----

service_world::service_world(const options& wanted)
    : options_(wanted),
      time_(wanted.seed),
      net_(time_, 2 + 1 + time_.pick(2), 100us, time_.chance(80) ? 2ms : 40ms),
      broker_(net_, broker_host) {
  server_ = std::make_unique<sim_server>(*this, server_host);
  for (std::size_t n = 0; n + 2 < net_.hosts(); ++n) clients_.push_back(std::make_unique<sim_client>(*this, n + 2, n));
}

void service_world::tell(const std::string& what) { story_ += std::to_string(time_.ms()) + " ms: " + what + "\n"; }

sim_call& service_world::make_call(scheduler::duration allowed) {
  return calls_.emplace_back(
      sim_call{.number = calls_.size(), .made_at = time_.now(), .deadline = time_.now() + allowed});
}

void service_world::plan_fault() {
  const auto length = time_.between(200ms, time_.chance(70) ? 8'000ms : 1'500ms);
  const auto begins = time_.between(0ms, 4'000ms);
  const auto ends = begins + length;
  healed_ = std::max(healed_, time_.now() + ends);
  const auto both = [&](auto first, auto then) {
    time_.after(begins, std::move(first));
    time_.after(ends, std::move(then));
  };
  const std::size_t one = time_.pick(net_.hosts());
  const std::size_t other = (one + 1 + time_.pick(net_.hosts() - 1)) % net_.hosts();
  const std::string name = std::to_string(one) + " and " + std::to_string(other);
  const auto cut = [this, one, other](bool back) {
    net_.cut(one, other);
    if (back) net_.cut(other, one);
  };
  const auto mend = [this, one, other](bool back) {
    net_.mend(one, other);
    if (back) net_.mend(other, one);
  };
  switch (time_.pick(8)) {
    case 0:
    case 1:
      both([=, this] { tell("lost: " + name), cut(true); }, [=, this] { tell("back: " + name), mend(true); });
      break;
    case 2:
      both([=, this] { tell("one way lost: " + name), cut(false); }, [=, this] { tell("back: " + name), mend(false); });
      break;
    case 3: {
      const auto all = [this, one](bool lose) {
        tell((lose ? "host lost: " : "host back: ") + std::to_string(one));
        for (std::size_t n = 0; n < net_.hosts(); ++n) {
          if (n == one) continue;
          lose ? (net_.cut(one, n), net_.cut(n, one)) : (net_.mend(one, n), net_.mend(n, one));
        }
      };
      both([=] { all(true); }, [=] { all(false); });
      break;
    }
    case 4:
      for (auto at = begins; at < ends;) {
        const auto until = std::min<scheduler::duration>(at + time_.between(50ms, 2'000ms), ends);
        time_.after(at, [=, this] { tell("flap: " + name), cut(true); });
        time_.after(until, [=, this] { mend(true); });
        at = until + time_.between(50ms, 1'000ms);
      }
      break;
    case 5: {
      sim_client* const client = clients_[time_.pick(clients_.size())].get();
      if (time_.chance(50))
        both([=, this] { tell("server stopped"), server_->stop(true); },
             [=, this] { tell("server goes on"), server_->stop(false); });
      else
        both([=, this] { tell("client stopped"), client->stop(true); },
             [=, this] { tell("client goes on"), client->stop(false); });
      break;
    }
    case 6: {
      was_killed_ = true;
      const auto who = time_.pick(3);
      if (who == 0) {
        both([=, this] { tell("broker killed"), broker_.kill(); }, [=, this] { tell("broker back"), broker_.start(); });
      } else if (who == 1) {
        time_.after(ends, [=, this] { tell("server restarted"), server_->restart(); });
      } else {
        time_.after(ends, [=, this, n = time_.pick(clients_.size())] {
          tell("client restarted");
          clients_[n]->restart();
        });
      }
      break;
    }
    default:  // both ends see that some time later
      time_.after(std::max<scheduler::duration>(ends - 1s, 0ms), [=, this, n = time_.pick(clients_.size())] {
        tell("address changed: connections of client " + std::to_string(n + 2) + " carry nothing");
        clients_[n]->break_streams();
      });
      break;
  }
}

std::string service_world::run() {
  for (const auto& each : clients_) {
    // Now and then, so that connections are also idle.
    const auto pause = time_.chance(70) ? 100ms : 900ms;
    for (auto at = time_.now(); at < time_.now() + 18s; at += pause)
      time_.at(at, [this, client = each.get()] { client->call(time_.between(600ms, 3'000ms)); });
  }
  time_.run_for(3s);
  healed_ = time_.now();
  for (std::uint64_t faults = 1 + time_.pick(3); faults > 0; --faults) plan_fault();
  time_.run_until(healed_);
  tell("all is well again");
  time_.run_for(was_killed_ ? sim_broker::lease + 2s : 1'500ms);
  const auto whole = time_.now();
  for (const auto& each : clients_) {
    for (int n = 0; n < 5; ++n) time_.after(n * 100ms, [client = each.get()] { client->call(1s); });
  }
  time_.run_for(2s);
  time_.run_for(4s);
  return check(whole);
}

std::string service_world::check(scheduler::time whole) {
  for (const auto& each : calls_) {
    const auto ms = [](scheduler::time of) {
      return std::to_string((of - scheduler::time(std::chrono::hours(1))) / 1ms);
    };
    const std::string which = "the call of " + ms(each.made_at) + " ms ";
    if (each.made_at > time_.now() - 4s) continue;
    if (each.ended != 1) return which + "ended " + std::to_string(each.ended) + " times";
    if (each.executed > 1) return which + "ran " + std::to_string(each.executed) + " times";
    if (each.how == call_errc::ok && each.executed == 0) return which + "was answered and never ran";
    if (each.made_at >= whole && each.how != call_errc::ok)
      return which + "ended as " + std::string(to_string(each.how));
  }
  return {};
}

}  // namespace orc::test
