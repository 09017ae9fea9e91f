// One end of calls, message by message.
#pragma once

#include <string>

#include "calls/call_message.h"
#include "support/broker_process.h"
#include "support/call_peers.h"
#include "support/catch.h"

namespace orc::test {

inline constexpr const char* service_name = "arm/service";
inline constexpr std::uint64_t liar_id = 0x1234;
inline constexpr std::uint64_t last_id = std::uint64_t{1} << 63;  // the highest that a server takes

// The topics of one end.
struct liar {
  struct unheard {};  // nobody receives yet
  liar(const broker_process& broker, std::string sends, std::string receives, unheard /*unused*/)
      : participant(broker.options("liar")), to(std::move(sends)), from(std::move(receives)) {
    // The broker lets a program answer that serves.
    if (const auto at = to.find("/.reply/"); at != std::string::npos)
      REQUIRE(participant.register_topic(to.substr(0, at)).result());
    REQUIRE(participant.request_topic(from, {.conflate = 0, .depth = 65'536}).result());
    REQUIRE(participant.register_topic(to, {.keep_last = false}));
  }
  liar(const broker_process& broker, std::string sends, std::string receives)
      : liar(broker, std::move(sends), std::move(receives), unheard{}) {
    REQUIRE(participant.publisher(to).wait_readers(1, patience_ms));
  }
  void send(const detail::call_header& header, std::span<const std::byte> payload = {}) {
    send_bytes(detail::encode(header, payload));
  }
  void send_bytes(std::span<const std::byte> bytes) { REQUIRE(participant.send_msg(to, bytes.data(), bytes.size())); }
  // The next message.
  [[nodiscard]] detail::call_header next() {
    last = participant.recv_msg(from, patience_ms);
    REQUIRE(last);
    const auto read = detail::read_message(last.bytes());
    REQUIRE(read);
    return read->header;
  }
  [[nodiscard]] detail::call_kind next_of_any() { return next().kind; }
  // The next message of this kind.
  [[nodiscard]] detail::call_header next(detail::call_kind kind) {
    for (;;) {
      if (const auto header = next(); header.kind == kind) return header;
    }
  }

  orc::participant participant;
  std::string to, from;
  orc::message last;
};

// A server, and a client of it that lies.
struct lied_to_server {
  explicit lied_to_server(const service_options& options = {.threads = 1, .queue = 8}) {
    service = server.serve(service_name, obeying(counts), options);
    REQUIRE(service.result());
  }
  void greet(liar& client) const {
    (void)client.next(detail::call_kind::welcome);
    client.send({.kind = detail::call_kind::hello, .id = 1}, detail::encode(detail::call_types{}));
    (void)client.next(detail::call_kind::accepted);
  }
  [[nodiscard]] liar make_liar() const {
    return {address_broker, detail::call_topic(service_name, liar_id), detail::reply_topic(service_name, liar_id)};
  }
  static detail::call_header request(std::uint64_t id) {
    return {.kind = detail::call_kind::request, .id = id, .remaining_ns = 60'000'000'000, .type = hash_of({})};
  }

  broker_process address_broker;
  call_counts counts;
  orc::participant server{address_broker.options("server")};
  orc::service service;
};

}  // namespace orc::test
