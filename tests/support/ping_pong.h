// A publisher and a subscriber, each a process of its own, in lockstep: the next sample goes when the last one was
// read. What a third one does to them is seen at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orc.h"
#include "support/broker_process.h"
#include "support/forked.h"
#include "support/proc_stats.h"
#include "support/told_samples.h"
#include "support/wait_until.h"

namespace orc::test {

class ping_pong {
 public:
  static constexpr const char* topic = "ping/pong";

  // To be made before this process has threads.
  explicit ping_pong(transport over)
      : publisher_([this, over] { publish(over); }), subscriber_([this, over] { subscribe(over); }) {
    if (!goes_on()) throw std::runtime_error("no ping-pong");
    before_ = stats_of(publisher_.pid());
  }

  [[nodiscard]] const broker_process& address_broker() const { return address_broker_; }
  [[nodiscard]] pid_t publisher() const { return publisher_.pid(); }
  [[nodiscard]] std::uint64_t count() const { return said_->read; }
  [[nodiscard]] std::int64_t slowest_us() const { return said_->slowest_us; }
  // Of the samples from now on, in bytes.
  void resize(std::size_t size) { said_->size = size; }

  // Still, from now on.
  [[nodiscard]] bool goes_on(std::uint64_t samples = 200) {
    const std::uint64_t until = said_->read + samples;
    return wait_until([&] { return said_->read >= until || said_->wrong != 0; }) && said_->wrong == 0;
  }
  // What the publisher costs is what it cost before anybody came. `what` says what is too much.
  [[nodiscard]] bool is_as_before(std::string& what) {
    proc_stats now;
    const bool same = wait_until([&] {
      now = stats_of(publisher_.pid());
      return now.fds <= before_.fds && now.threads <= before_.threads && now.shm_mapped <= before_.shm_mapped &&
             now.shm_fds <= before_.shm_fds;
    });
    what = "fds " + std::to_string(before_.fds) + " -> " + std::to_string(now.fds) + ", mappings " +
           std::to_string(before_.shm_mapped) + " -> " + std::to_string(now.shm_mapped);
    return same;
  }

 private:
  struct report {
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> read{0};
    std::atomic<std::uint64_t> wrong{0};  // a call that failed, a sample that is lost, torn or was changed
    std::atomic<std::size_t> size{100};
    std::atomic<std::int64_t> slowest_us{0};  // from one to the next
  };

  void publish(transport over) {
    broker participant(address_broker_.options("publisher"));
    if (!participant.register_topic(topic, {.transports = {over}}).result()) ++said_->wrong;
    auto to = participant.publisher(topic);
    if (!wait_until([&] { return to.readers() != 0; })) ++said_->wrong;
    std::vector<unsigned char> sample;
    for (std::uint32_t number = 1;; ++number) {
      const auto start = std::chrono::steady_clock::now();
      sample.resize(said_->size + number % 7);
      told{1, number}.write(sample.data(), sample.size());
      if (!to.send(sample.data(), sample.size())) ++said_->wrong;
      said_->sent = number;
      if (!wait_until([&] { return said_->read == number; })) ++said_->wrong;
      const auto took = std::chrono::steady_clock::now() - start;
      said_->slowest_us = std::max<std::int64_t>(said_->slowest_us,
                                                 std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    }
  }

  void subscribe(transport over) {
    broker participant(address_broker_.options("subscriber"));
    if (!participant.request_topic(topic, {.transports = {over}}).result()) ++said_->wrong;
    auto from = participant.subscriber(topic);
    message last;
    for (std::uint32_t number = 1;; ++number) {
      auto got = from.recv(2 * patience_ms);
      told content;
      if (!got || got.missed() != 0 || !told::read(got, content) || content.number != number) ++said_->wrong;
      if (last && (!told::read(last, content) || content.number != number - 1)) ++said_->wrong;
      last = std::move(got);
      said_->read = number;
    }
  }

  broker_process address_broker_;
  shared_with_children<report> said_;
  forked publisher_;
  forked subscriber_;
  proc_stats before_;
};

}  // namespace orc::test
