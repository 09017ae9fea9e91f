// The server: what service_core and service_client do around its conversations.
#include <algorithm>

#include "simulation/service_world.h"

namespace orc::test {

namespace {

using namespace std::chrono_literals;
using detail::call_kind;

constexpr auto greeting_slice = 100ms;  // service_client's
constexpr auto idle_slice = 1000ms;
constexpr auto look_after_every = 200ms;

}  // namespace

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
    case call_kind::hello: {
      using hello = detail::server_conversation::hello;
      const auto kind = told.take_hello(header.id, header.remaining_ns);
      if (kind == hello::too_many) {
        of->leaving = true;
        break;
      }
      if (kind == hello::first) (void)told.accept(header.id, sim_type);
      say(*of, {.header = {.kind = call_kind::accepted, .id = header.id, .remaining_ns = of->number}});
      break;
    }
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
  if (!of->ended) say(*of, {.header = {.kind = call_kind::result, .id = id, .type = sim_type}, .call = call});
  of->open.erase(id);
}

void sim_server::report(served& of, std::uint64_t last_sent) {
  sim_message all{.header = {.kind = call_kind::running, .id = last_sent, .remaining_ns = of.number}};
  for (const auto& [id, call] : of.open) all.ids.push_back(id);
  say(of, std::move(all));
}

}  // namespace orc::test
