// Both ends of a service's conversation, without sockets. The input is a list of steps: [u8 what][u8 pause, 10 ms]
// [u16 length, little-endian][a message]. Bit 0 of `what`: to the client, else to the server. Bits 1 and 2: the link is
// up; the broker's answer about the server; bit 3: nothing came for a moment; bit 4: the client leaves.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>

#include "calls/call_message.h"
#include "calls/client_conversation.h"
#include "calls/server_conversation.h"
#include "orc/type_description.h"

namespace {

using namespace orc::detail;

void check(bool holds) {
  if (!holds) std::abort();
}

// The server's end: a request runs once, in the order of the ids.
class server {
 public:
  void take(const call_message& read, bool connected) {
    const auto news = conversation_.follow_link(connected);
    check(!news.is_new || !conversation_.is_greeted());
    if (news.is_new) hellos_ = 0;
    std::uint64_t missing = 0;
    switch (read.header.kind) {
      case call_kind::hello: return take_hello(read);
      case call_kind::request:
        if (!conversation_.accepts(read.header.type)) return;
        if (conversation_.take_request(read.header.id, missing) == server_conversation::news::bad) return;
        check(ran_.empty() || read.header.id > *ran_.rbegin());
        check(missing < read.header.id);
        ran_.insert(read.header.id);
        return;
      case call_kind::open_calls:
        if (conversation_.take_last_id(read.header.id, missing)) check(missing <= read.header.id);
        return;
      default: return;
    }
  }

 private:
  void take_hello(const call_message& read) {
    using hello = server_conversation::hello;
    const auto kind = conversation_.take_hello(read.header.id, read.header.remaining_ns);
    if (kind == hello::repeated) return;
    check(kind != hello::first || ++hellos_ <= 256);
    const auto types = read_types(read.payload);
    if (kind == hello::too_many || !types) {
      (void)conversation_.refuse();
      return;
    }
    const auto hash = orc::hash_of(types->request);
    if (conversation_.accept(read.header.id, hash)) check(conversation_.accepts(hash));
  }

  server_conversation conversation_;
  std::set<std::uint64_t> ran_;
  int hellos_ = 0;
};

// The client's end: requests go to a server that the broker named, over a link that is up.
class client {
 public:
  client() { conversation_.begin(); }

  void look(std::uint8_t what, monotonic::time_point now) {
    const bool connected = (what & 2U) != 0;
    act(conversation_.follow_link(connected));
    check(connected || !conversation_.is_linked());
    if (conversation_.is_checking()) {
      conversation_.check_ended();
      act(conversation_.take_check(static_cast<server_check::answer::server>(what >> 6U), connected, now));
    }
    if ((what & 8U) != 0) act(conversation_.take_silence(connected, true, now));
    if ((what & 16U) != 0) act(conversation_.leave());
    if (conversation_.take_restart()) conversation_.begin();
    if (pairs_ < 4) pairs_ = conversation_.add_types(now);
    for (std::uint64_t pair = 1; pair <= pairs_; ++pair) {
      if (!conversation_.may_send(pair)) continue;
      check(conversation_.is_linked() && conversation_.has_accepted_any());
      const auto before = conversation_.last_id();
      check(conversation_.use_next_id() == before + 1);
    }
  }
  void take(const call_message& read, monotonic::time_point now) {
    using verdict = client_conversation::verdict;
    switch (read.header.kind) {
      case call_kind::welcome: return act(conversation_.take_welcome(read.header.id, now));
      case call_kind::bye: return act(conversation_.take_bye());
      case call_kind::accepted:
      case call_kind::refused: {
        act(conversation_.take_name(read.header.remaining_ns, now));
        const auto what = read.header.kind == call_kind::accepted ? verdict::accepted : verdict::refused;
        for (std::uint64_t pair = 1; pair <= pairs_; ++pair) {
          if (conversation_.take_verdict(pair, read.header.id, what)) check(conversation_.verdict_on(pair) == what);
        }
        (void)read_error(read.payload);
        return;
      }
      case call_kind::running:
        act(conversation_.take_name(read.header.remaining_ns, now));
        if (const auto ids = read_ids(read.payload)) check(std::ranges::is_sorted(*ids));
        return;
      default: return;
    }
  }

 private:
  void act(const client_conversation::actions& next) {
    check(next.ends == client_conversation::end::none || !conversation_.is_linked());
    if (next.check) conversation_.check_begun();
  }

  client_conversation conversation_;
  std::uint64_t pairs_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  monotonic::time_point now{std::chrono::hours(1)};
  server one;
  client other;
  std::span<const std::uint8_t> rest(data, size);
  while (rest.size() >= 4) {
    const std::uint8_t what = rest[0];
    now += std::chrono::milliseconds(10 * rest[1]);
    const std::size_t length = std::min<std::size_t>(rest[2] + std::size_t{256} * rest[3], rest.size() - 4);
    const auto message = read_message(std::as_bytes(rest.subspan(4, length)));
    rest = rest.subspan(4 + length);
    other.look(what, now);
    if (!message) continue;
    if ((what & 1U) != 0)
      other.take(*message, now);
    else
      one.take(*message, (what & 2U) != 0);
  }
  return 0;
}
