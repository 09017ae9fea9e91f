// The sending end of a topic: numbers the samples, hands each to every link, keeps the last one for those that join.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/announcement.h"
#include "core/clock.h"
#include "orc/message.h"
#include "orc/options.h"
#include "orc/result.h"
#include "transport/sample_backlog.h"
#include "transport/transport.h"

namespace orc::detail {

using transport_list = std::vector<std::unique_ptr<transport_kind>>;

// Where a participant's endpoints are opened; known once a broker answered.
struct network_place {
  std::string directory;               // for sockets
  error directory_problem;             // why there is none
  bool alone = false;                  // there is no broker, and only what needs none works
  bool remote = false;                 // other hosts can reach the broker, so they may subscribe
  bool offer_tcp = false;              // also without being asked for
  std::vector<std::string> addresses;  // that other hosts connect to, best first
  wire::port_range ports;              // to listen at
};

// Why a topic cannot be had without a broker.
[[nodiscard]] result without_multicast(const std::string& topic);

class publication {
 public:
  publication(std::string topic, topic_options options, std::shared_ptr<const transport_list> transports);

  // ---- users, any thread ----
  [[nodiscard]] result send(const void* data, std::size_t size) noexcept;
  [[nodiscard]] result send(message&& msg) noexcept;
  [[nodiscard]] result send(loan&& filled) noexcept;
  [[nodiscard]] orc::loan lend(std::size_t size) noexcept;
  [[nodiscard]] std::size_t readers() const noexcept;

  // ---- participant ----
  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] const wire::id& id() const noexcept { return id_; }
  [[nodiscard]] orc::detail::announcement& announcement() noexcept { return announcement_; }
  // Whether a later declaration asks for nothing else: what it leaves at the default does not count.
  [[nodiscard]] bool was_made_with(const topic_options& again) const noexcept;
  // Ends it, in this order: calls return errc::closed; readers that are behind are given the last sample, until none is
  // (false); the links close. end_all does it for several, and takes a third of a second at most.
  void end() noexcept;
  [[nodiscard]] bool farewell() noexcept;
  void close() noexcept;
  static void end_all(const std::vector<std::shared_ptr<publication>>& leaving) noexcept;

  // ---- housekeeping ----
  // Opens the links that are offered at `place`, those that are not open yet. False and why when one that was asked for
  // cannot be opened; a later call tries again.
  [[nodiscard]] result open(const network_place& place);
  [[nodiscard]] bool is_open() const noexcept { return opened_; }
  // network_place::addresses are these now. True: the registration is another one.
  [[nodiscard]] bool set_addresses(const std::vector<std::string>& addresses);
  // Closes the links that are not where they say any more, for open() to open them anew. False: there are none.
  [[nodiscard]] bool close_outdated();
  // What the successful open() did without because this system does not have it; empty: nothing.
  [[nodiscard]] const std::string& left_out() const noexcept { return left_out_; }
  // open() failed: the next attempt follows after a pause that grows. True: for another reason than the time before.
  [[nodiscard]] bool put_off(const error& why, monotonic::time_point now);
  [[nodiscard]] bool was_put_off() const noexcept { return !put_off_why_.empty(); }
  [[nodiscard]] monotonic::time_point next_attempt() const noexcept { return next_attempt_; }
  [[nodiscard]] wire::register_topic registration() const;
  [[nodiscard]] wire::publication_counters counters() const noexcept;
  // Joins and repairs: when one of the descriptors is readable, and about once a second.
  void service() noexcept;
  // Not before, unless a second has passed. The epoch: at any time.
  [[nodiscard]] monotonic::time_point resume() const noexcept { return resume_; }
  void append_fds(std::vector<int>& to) const;

 private:
  [[nodiscard]] bool offers(transport t) const noexcept;
  [[nodiscard]] bool offers_at(const network_place& place, transport t) const noexcept;
  [[nodiscard]] bool has_link(wire::transport name) const noexcept;
  [[nodiscard]] publication_spec spec_at(const network_place& place) const;
  [[nodiscard]] bool send_directly(const void* data, std::size_t size) noexcept;
  [[nodiscard]] sample* last() noexcept;
  struct served {
    bool behind = false;         // a reader is
    monotonic::duration rest{};  // how long the links want to be left alone
  };
  // Serves the links, and does a slice of the work for which one of them needs no lock.
  served serve_links() noexcept;
  void count(std::size_t size) noexcept;
  [[nodiscard]] sample_buffer memory_for(std::size_t size) noexcept;
  [[nodiscard]] result publish(sample_buffer&& buffer) noexcept;
  [[nodiscard]] result too_large(std::size_t size) const noexcept;

  const std::string topic_;
  const wire::id id_ = wire::id::random();
  const topic_options options_;
  const std::shared_ptr<const transport_list> transports_;
  const unsigned generation_;
  orc::detail::announcement announcement_;
  // Housekeeping only:
  bool opened_ = false;
  std::vector<std::string> addresses_;
  std::string left_out_;
  std::string put_off_why_;
  std::chrono::milliseconds pause_{0};
  monotonic::time_point next_attempt_;
  monotonic::time_point resume_;

  mutable std::mutex mutex_;  // the links and the last sample
  const std::shared_ptr<sample_backlog> lacking_ = std::make_shared<sample_backlog>();
  std::vector<std::unique_ptr<publisher_link>> links_;
  std::size_t largest_ = SIZE_MAX;  // bytes that all of them take
  sample last_;
  publisher_link* keeper_ = nullptr;  // has the last sample instead of last_
  std::atomic<bool> closed_{false};

  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace orc::detail
