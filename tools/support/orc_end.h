// One end of a ping-pong over ORC: a participant that publishes one topic and subscribes another.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "orc/participant.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"
#include "tools/support/ping_pong.h"

namespace orc::bench {

inline constexpr int connect_within_ms = 10'000;

inline participant_options participant_at(const std::string& broker, const char* name) {
  participant_options options;
  options.broker = broker;
  options.name = name;
  return options;
}

struct orc_link {
  std::string out;  // topic this end publishes
  std::string in;   // topic this end subscribes
  orc::transport transport = orc::transport::ipc;
  std::size_t size = 0;  // of a typical sample
  wait_mode wait = wait_mode::block;
};

class orc_end {
 public:
  orc_end(const std::string& broker, const char* name, orc_link link)
      : link_(std::move(link)), participant_(participant_at(broker, name)) {}

  // Declares both topics on exactly the named transport and waits until samples flow both ways.
  result open() {
    topic_options offer;
    offer.transports = {link_.transport};
    offer.expected_size = link_.size;
    out_ = participant_.register_topic(link_.out, offer);
    if (!out_.result()) return out_.result();
    request_options wish;
    wish.transports = {link_.transport};
    wish.connected_within = std::chrono::milliseconds(connect_within_ms);
    if (spins_inside()) wish.spin = std::chrono::microseconds(1'000'000);
    in_ = participant_.request_topic(link_.in, wish);
    if (!in_.result()) return in_.result();
    return wait_for_reader();
  }

  // From any thread: the thread in receive() returns with a false message.
  void close() { (void)participant_.release_topic(link_.in); }

  bool send(const std::byte* data, std::size_t size) noexcept { return static_cast<bool>(out_.send(data, size)); }
  bool send_loaned(const std::byte* mark, std::size_t marked, std::size_t size) noexcept {
    loan memory = out_.loan(size);
    if (!memory) return false;
    std::memcpy(memory.data(), mark, marked);
    return static_cast<bool>(out_.send(std::move(memory)));
  }
  bool forward(message&& received) noexcept { return static_cast<bool>(out_.send(std::move(received))); }

  message receive(wait_mode wait) noexcept {
    if (wait == wait_mode::block || spins_inside()) return in_.recv(-1);
    for (;;) {
      message newest = in_.recv(0);
      if (newest.status() != errc::nothing_new) return newest;
    }
  }

  [[nodiscard]] orc::subscriber& in() noexcept { return in_; }
  [[nodiscard]] orc::publisher& out() noexcept { return out_; }

 private:
  // shm looks before it sleeps; elsewhere spinning is polling.
  [[nodiscard]] bool spins_inside() const noexcept {
    return link_.wait == wait_mode::spin && link_.transport == orc::transport::shm;
  }

  result wait_for_reader() {
    const std::int64_t deadline = now_ns() + connect_within_ms * std::int64_t{1'000'000};
    while (out_.readers() == 0) {
      if (now_ns() > deadline || interrupted()) return {errc::timed_out, "nobody subscribed to " + link_.out};
      sleep_until_ns(now_ns() + 1'000'000);
    }
    return {};
  }

  orc_link link_;
  orc::participant participant_;
  orc::publisher out_;
  orc::subscriber in_;
};

}  // namespace orc::bench
