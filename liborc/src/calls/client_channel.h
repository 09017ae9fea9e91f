// A participant's connection to one service: topics in both directions, the types that the server has accepted, and the
// open calls. liborc/doc/design/calls.md has the why.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/threads/doorbell.h"
#include "base/threads/pi_mutex.h"
#include "calls/call_message.h"
#include "calls/call_state.h"
#include "calls/client_conversation.h"
#include "calls/open_calls.h"
#include "calls/server_check.h"
#include "orc/participant.h"

namespace orc::detail {

class subscription;

// The types of requests and replies that one place of the program uses.
struct negotiated_types {
  hashed_type request;
  hashed_type reply;
  std::uint64_t number = 0;  // in hello, accepted and refused; 0: this program uses too many
  call_error refusal;        // why the server refused them, if it did
};

// Any thread. One of the threads that wait for replies receives for all: the reader.
class client_channel : public std::enable_shared_from_this<client_channel> {
 public:
  client_channel(orc::participant& by, std::string service);
  ~client_channel();
  client_channel(const client_channel&) = delete;
  client_channel& operator=(const client_channel&) = delete;

  [[nodiscard]] std::shared_ptr<call_state> start(const hashed_type& request, const hashed_type& reply,
                                                  monotonic::duration allowed, std::size_t size,
                                                  const request_writer& write);
  // Returns whether the call has ended.
  [[nodiscard]] bool wait(call_state& call, monotonic::time_point until);
  void cancel(call_state& call) noexcept;
  [[nodiscard]] int fd(call_state& call);
  void then(const std::shared_ptr<call_state>& call, call_state::callback ended);
  [[nodiscard]] std::optional<call_bytes> take_feedback(call_state& call);
  // Waits until the server has accepted any types.
  [[nodiscard]] result wait_accepted(const hashed_type& untyped, monotonic::time_point until);

  // Ends it: every call ends as `closed`. Waits for the thread.
  void stop() noexcept;
  // The same without waiting. has_stopped() then tells when stop() and the destructor wait for nothing.
  void begin_stop() noexcept;
  [[nodiscard]] bool has_stopped() const noexcept;
  [[nodiscard]] monotonic::time_point last_used() const noexcept;

 private:
  using lock_type = std::unique_lock<pi_mutex>;

  // ---- the thread ----
  void start_thread();  // needs the lock
  void run() noexcept;
  void connect(lock_type& lock);
  void try_set_up(std::uint64_t client) noexcept;  // in a thread of its own
  [[nodiscard]] result set_up(std::uint64_t client);
  void rest(lock_type& lock, monotonic::time_point until);
  void attend(lock_type& lock);
  [[nodiscard]] bool is_needed() const noexcept;
  void run_callbacks(lock_type& lock);

  // ---- receiving; these need the lock ----
  // Receives for at most `slice_ms`, without the lock, and takes what comes. False: nothing came. Only while no other
  // thread reads.
  bool receive(lock_type& lock, int slice_ms);
  void look_around(lock_type& lock, monotonic::time_point now);
  void take_arrived(lock_type& lock);
  void hand_over() noexcept;
  void take(message&& received);
  // Does what the conversation says.
  void act(const client_conversation::actions& now);
  void check_server();
  void take_server(const server_check::answer& found);
  void take_answer(const call_message& read);
  void take_feedback(message&& received, std::uint64_t id);
  void take_end(message&& received, const call_message& read);
  void take_running(const call_message& read);
  void check_link();
  [[nodiscard]] bool is_link_up() const noexcept;
  [[nodiscard]] bool is_of_server(const call_message& read);
  // Whether something waits for the server.
  [[nodiscard]] bool is_wanted() const noexcept;
  void say_again();

  // ---- sending; these need the lock ----
  [[nodiscard]] bool is_refused(const negotiated_types& types) const noexcept;
  [[nodiscard]] negotiated_types& types_of(const hashed_type& request, const hashed_type& reply);
  void send(call_kind kind, std::uint64_t id, std::span<const std::byte> payload = {}, std::uint64_t time = 0) noexcept;
  void say_hello(const negotiated_types& types);
  void send_new(const std::shared_ptr<call_state>& call, const negotiated_types& types, monotonic::time_point now,
                std::size_t size, const request_writer& write);
  void send_unsent(const negotiated_types& types);

  // ---- ending; these need the lock ----
  void end(const std::shared_ptr<call_state>& call, call_error why);
  void end_sent(const call_error& why);
  void end_late(monotonic::time_point now);
  void end_all(const call_error& why);
  [[nodiscard]] monotonic::time_point next_deadline() const noexcept;
  [[nodiscard]] call_error why_unreached() const;
  [[nodiscard]] call_bytes keep(message&& received);

  orc::participant& participant_;
  const std::string service_;

  mutable pi_mutex mutex_;  // guards the rest
  bool stopping_ = false;
  bool running_ = false;     // the thread
  bool connecting_ = false;  // another thread makes the topics
  std::thread thread_;
  doorbell bell_;  // of the thread
  monotonic::time_point sleeps_until_;
  // A call made it wake by then. It keeps to that when the call has ended, so that the next call, whose deadline is
  // later, need not wake it.
  monotonic::time_point wakes_by_;
  monotonic::time_point last_used_;

  std::uint64_t client_ = 0;  // the id in the topics' names
  orc::publisher requests_;
  orc::subscriber replies_;
  std::shared_ptr<const subscription> link_;  // of the replies
  std::optional<result> set_up_;              // of the topics; nothing: they are not set up yet
  client_conversation conversation_;
  server_check check_;          // of whom a welcome came from
  std::string impostor_;        // who answered in the server's place
  unsigned other_version_ = 0;  // of calls, in which something answered; 0: none
  std::list<negotiated_types> types_;
  negotiated_types excess_types_;

  bool reading_ = false;            // a thread is in receive()
  std::list<call_state*> waiters_;  // threads that wait for the reader
  std::size_t attended_ = 0;        // calls whose replies the thread receives
  unsigned wait_for_service_ = 0;   // threads in wait_accepted
  doorbell progress_;               // of these
  open_calls<call_state> open_;     // sent
  std::list<std::shared_ptr<call_state>> unsent_;
  std::deque<std::shared_ptr<call_state>> callbacks_;  // ended, to be called
  std::shared_ptr<int> held_ = std::make_shared<int>(0);
};

}  // namespace orc::detail
