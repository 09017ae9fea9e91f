// One client of a service: its two topics, the thread that receives from it, and its open calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calls/call_message.h"
#include "calls/open_calls.h"
#include "calls/server_conversation.h"
#include "calls/service_call.h"
#include "orc/directory.h"
#include "orc/publisher.h"
#include "orc/subscriber.h"

namespace orc::detail {

class service_core;
class subscription;

// Of a client's publication: service_client::program(), service_client::origin().
[[nodiscard]] std::string program_of(const publication_state& client);
[[nodiscard]] std::string origin_of(const publication_state& client);

class service_client : public std::enable_shared_from_this<service_client> {
 public:
  // `refused`: it is one client too many, and only learns that.
  service_client(service_core& of, std::uint64_t id, const publication_state& publication, bool refused);
  ~service_client();
  service_client(const service_client&) = delete;
  service_client& operator=(const service_client&) = delete;

  void start();
  // Ends it, from any thread. Its thread, which the caller waits for, ends when the handler that it runs has returned.
  void end() noexcept;
  [[nodiscard]] std::thread take_thread() noexcept { return std::move(thread_); }

  // ---- any thread ----
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] const publication_state& publication() const noexcept { return state_; }
  [[nodiscard]] const call_client& identity() const noexcept { return identity_; }
  // Clients of one program have the same text: of a process where the broker sees it, else of what the program says.
  [[nodiscard]] const std::string& program() const noexcept { return program_; }
  // The same for all programs of an address whose processes the broker does not see. Empty: it is seen.
  [[nodiscard]] const std::string& origin() const noexcept { return origin_; }
  [[nodiscard]] bool is_refused() const noexcept { return is_refused_; }
  [[nodiscard]] bool is_leaving() const noexcept { return stopping_; }
  [[nodiscard]] bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_connected() const noexcept;
  // Whether it has ever said hello.
  [[nodiscard]] bool has_greeted() const noexcept { return has_greeted_; }
  [[nodiscard]] monotonic::time_point made_at() const noexcept { return made_at_; }
  // The broker does not list it: it ends when its link does.
  void set_listed(bool listed) noexcept { listed_ = listed; }
  [[nodiscard]] bool is_listed() const noexcept { return listed_; }
  // Whether it can be ended: its link is down, and the broker does not list it.
  [[nodiscard]] bool is_gone() const noexcept { return !listed_ && !is_connected(); }
  // The same for one that is gone. The broker may list it again before it has ended.
  void end_until_listed() noexcept {
    was_gone_ = true;
    end();
  }
  // Whether it shall come again when it has ended: it never had its topics, or was gone for a while.
  [[nodiscard]] bool wants_again() const noexcept { return (wants_again_ || was_gone_) && listed_; }
  // What comes in its place when it has ended. One thread at a time.
  void set_successor(const publication_state& publication) { successor_ = publication; }
  [[nodiscard]] const std::optional<publication_state>& successor() const noexcept { return successor_; }
  [[nodiscard]] orc::loan lend(std::size_t size) noexcept;

  // ---- the thread that runs a call's handler ----
  bool send_feedback(service_call& call, std::span<const std::byte> bytes);
  // Sends the call's reply or error. It is open no more.
  void finish(service_call& call);
  // Ends a call that never ran.
  void refuse(const service_call& call, const call_error& why);
  [[nodiscard]] bool is_cancelled(service_call& call) noexcept;

 private:
  class on_turn;

  void run() noexcept;
  [[nodiscard]] bool set_up();
  void receive(int timeout_ms);
  // Takes what has arrived, without waiting.
  void drain();
  void take_late_hellos();
  void take(message&& received);
  void take_hello(const call_message& read);
  void take_request(message&& received, const call_message& read);
  void count_missing(std::uint64_t requests);
  void take_open_calls(std::uint64_t last_sent);
  void owe_report(std::uint64_t last_sent);
  void report_open(std::uint64_t last_sent);
  void acknowledge_feedback(std::uint64_t id);
  void cancel(std::uint64_t id);
  void follow_link();
  void drop_calls(const call_error& why);
  void run_waiting();
  // Whether this is the thread, which runs the handlers, too.
  [[nodiscard]] bool is_receiving() const noexcept;
  bool send(call_kind kind, std::uint64_t id, std::span<const std::byte> payload = {}) noexcept;

  service_core& service_;
  const std::uint64_t id_;
  const publication_state state_;
  const call_client identity_;
  const std::string program_;
  const std::string origin_;
  const bool is_refused_;
  const std::uint64_t number_;  // of this conversation: a client that comes again gets another one
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> ended_{false};
  std::atomic<bool> listed_{true};
  std::atomic<bool> has_greeted_{false};
  std::atomic<bool> wants_again_{false};
  std::atomic<bool> was_gone_{false};
  const monotonic::time_point made_at_ = monotonic::now();
  std::optional<publication_state> successor_;

  mutable std::mutex topics_mutex_;  // guards the handles while the thread makes them
  orc::subscriber requests_;
  std::shared_ptr<const subscription> link_;  // of the requests
  orc::publisher replies_;

  // ---- this thread's ----
  std::thread::id self_;
  server_conversation conversation_;
  bool fresh_ = true;  // the last look found nothing more
  bool draining_ = false;
  bool has_turn_ = false;                     // the service's, so it runs a handler or is about to
  std::optional<std::uint64_t> owed_report_;  // of the calls that are open: up to this id
  std::vector<message> late_hellos_;          // that came during a handler
  bool over_shm_ = false;

  mutable std::mutex mutex_;  // guards the open calls and their feedback
  open_calls<service_call> open_;
};

}  // namespace orc::detail
