// One client: what client_channel does around its conversation.
#include <algorithm>

#include "simulation/service_world.h"

namespace orc::test {

namespace {

using namespace std::chrono_literals;
using detail::call_kind;
using orc::call_errc;
using conversation = detail::client_conversation;
using answer = detail::server_check::answer::server;

constexpr auto tick_every = 20ms;  // client_channel's slice

}  // namespace

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
  pairs_ = world_.time_.chance(90) ? 1 : 64;
  for (std::uint64_t n = 0; n < pairs_; ++n) (void)conversation_.add_types(world_.time_.now());
  conversation_.begin();
  calls_ = std::make_unique<sim_stream<sim_message>>(net, host_, sim_server_host, false, departure_ends,
                                                     [this, id = id_](const sim_message& each, bool) {
                                                       if (world_.server_) world_.server_->take(id, each);
                                                     });
  replies_ = std::make_unique<sim_stream<sim_message>>(
      net, sim_server_host, host_, true, departure_ends,
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
  if (conversation_.may_send(1 + made.number % pairs_))
    send_request(made);
  else
    unsent_.push_back(&made);
}

void sim_client::send_request(sim_call& call) {
  const std::uint64_t id = conversation_.use_next_id();
  open_.push_back({id, &call});
  const auto left = static_cast<std::uint64_t>(std::max<std::int64_t>((call.deadline - world_.time_.now()).count(), 0));
  calls_->send(
      {.header = {.kind = call_kind::request, .id = id, .remaining_ns = left, .type = sim_type}, .call = call.number});
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
      if (header.id == 0 || header.id > pairs_) break;
      if (conversation_.take_verdict(header.id, header.id, conversation::verdict::accepted)) {
        for (sim_call* const each : std::exchange(unsent_, {})) {
          if (conversation_.may_send(1 + each->number % pairs_))
            send_request(*each);
          else
            unsent_.push_back(each);
        }
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
  for (std::uint64_t pair = 1; now.greet && pair <= pairs_; ++pair) {
    if (conversation_.verdict_on(pair) == conversation::verdict::none) say_hello(pair);
  }
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

}  // namespace orc::test
