// A service: the handler, its waiting calls, its threads and its clients.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/threads/doorbell.h"
#include "calls/call_message.h"
#include "calls/service_call.h"
#include "calls/waiting_calls.h"
#include "orc/calls/service.h"
#include "orc/directory.h"
#include "orc/participant.h"

namespace orc::detail {

class call_recorder;
class service_client;

// Any thread.
class service_core : public std::enable_shared_from_this<service_core> {
 public:
  // `patience`: serve_raw's.
  service_core(orc::participant& by, std::string name, call_types types, raw_handler handler, service_options options,
               std::chrono::nanoseconds patience);
  ~service_core();
  service_core(const service_core&) = delete;
  service_core& operator=(const service_core&) = delete;

  // Registers the service's own topic, and starts the threads.
  [[nodiscard]] result start();
  // Withdraws the service, in three steps, which may be repeated. No handler starts after the first one.
  void begin_stop() noexcept;
  // Waits until no handler runs but one of this thread. False: one runs still.
  [[nodiscard]] bool wait_for_handlers(monotonic::time_point until) noexcept;
  // Waits for the threads. If this is one of them, in a handler, returns it.
  [[nodiscard]] std::thread join() noexcept;
  // All three, when the participant ends. Handlers that run after `begun` and the patience are let go, with their
  // threads, as is one of this thread: they no longer use the participant.
  void end(monotonic::time_point begun) noexcept;
  [[nodiscard]] bool has_let_go() const noexcept { return has_let_go_; }
  // Waits for a thread that join() returned, unless it was let go.
  void finish(std::thread& thread) noexcept;
  // Asks the owner to withdraw it, if that has not been done yet. False: a handler runs at `until`.
  bool leave_owner(monotonic::time_point until) noexcept;
  // How the owner does that.
  void set_owner(std::function<bool(monotonic::time_point)> withdraw) { withdraw_ = std::move(withdraw); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const service_options& options() const noexcept { return options_; }
  [[nodiscard]] const call_types& types() const noexcept { return types_; }
  [[nodiscard]] std::uint64_t reply_hash() const noexcept { return reply_hash_; }
  [[nodiscard]] bool is_inline() const noexcept { return options_.threads == 0; }
  [[nodiscard]] bool is_stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  [[nodiscard]] orc::participant& of() const noexcept { return participant_; }
  // Whether start() has succeeded. Only then it has clients.
  [[nodiscard]] bool is_started() const noexcept { return started_.load(std::memory_order_acquire); }
  [[nodiscard]] unsigned generation() const noexcept { return generation_; }

  // ---- clients ----
  // The broker's word on a client.
  void come(std::uint64_t client, const publication_state& publication);
  void go(std::uint64_t client);
  // All that it did not name in a complete list.
  void go_but(const std::set<std::uint64_t>& listed);
  // Ends clients that are gone, and publishes the figures when they have changed. Call it a few times a second.
  void look_after();
  // Whether the broker shall list the clients again, because there was no place for some of them, and now there may be.
  [[nodiscard]] bool wants_clients_again();

  // ---- calls ----
  // Adds a waiting call, or ends it as busy. It may end an older call of the client as replaced, a newer one of another
  // client as busy, and late ones as lost.
  void admit(const std::shared_ptr<service_call>& call, monotonic::time_point now);
  // The client's first waiting call; null: none.
  [[nodiscard]] std::shared_ptr<service_call> next_of(const service_client& client);
  // Removes a waiting call. False: it does not wait.
  bool withdraw(const service_call& call);
  // Removes all of a client's.
  [[nodiscard]] waiting_calls::calls withdraw_all(const service_client& client);
  // Runs the handler and sends the outcome, unless the call is cancelled or late.
  enum class client_was : std::uint8_t { heard, waiting };  // heard: just now, so it is there
  void run(service_call& call, monotonic::time_point now, client_was client);
  // Of a service without threads: one handler at a time. Waits until no other one runs; those that wait get it in the
  // order in which they came. `never`: the service or the client ends.
  enum class turn : std::uint8_t { at_once, after_a_wait, never };
  [[nodiscard]] turn take_turn(const service_client& client);
  // Takes it if no other handler runs and no call waits.
  [[nodiscard]] bool take_free_turn() noexcept;
  void give_turn() noexcept;
  // Makes threads look whether their client ends.
  void wake() noexcept;
  // Gives the turn that was taken, also when memory runs out.
  class held_turn {
   public:
    explicit held_turn(service_core& of) noexcept : of_(of) {}
    ~held_turn() { of_.give_turn(); }
    held_turn(const held_turn&) = delete;
    held_turn& operator=(const held_turn&) = delete;

   private:
    service_core& of_;
  };

  // Null: calls are not recorded.
  [[nodiscard]] call_recorder* recorder() const noexcept { return recorder_.get(); }
  [[nodiscard]] service_figures figures() const;
  void count_refused(std::uint64_t calls = 1) noexcept { refused_ += calls; }
  void count_dropped() noexcept { ++dropped_; }

 private:
  // A handler that runs, on the stack of its thread.
  class running {
   public:
    explicit running(service_core& in) noexcept;
    ~running();
    running(const running&) = delete;
    running& operator=(const running&) = delete;

    service_core& of;
    const std::thread::id thread = std::this_thread::get_id();
    running* next;
  };

  void run_handler(service_call& call);
  void work() noexcept;
  void pass_turn() noexcept;                            // needs the lock of the queue
  [[nodiscard]] bool runs_for_others() const noexcept;  // needs the lock of the handlers
  // These need the lock of the clients, or take it.
  [[nodiscard]] bool has_place(const publication_state& publication, bool refused) const;
  void end_silent();
  void promote_refused();
  void publish();

  orc::participant& participant_;
  const std::string name_;
  const call_types types_;
  raw_handler handler_;
  std::function<bool(monotonic::time_point)> withdraw_;
  const service_options options_;
  const std::chrono::nanoseconds patience_;
  const std::uint64_t reply_hash_;
  const unsigned generation_;
  std::atomic<bool> started_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> has_let_go_{false};
  const std::unique_ptr<call_recorder> recorder_;
  orc::publisher figures_;
  service_figures published_;
  monotonic::time_point publish_at_;

  mutable std::mutex queue_mutex_;
  waiting_calls waiting_;
  bool turn_is_taken_ = false;
  struct waiting_thread {
    bool* gets_it;
    std::string* program;  // a copy of its client's, which pass_turn() takes
  };
  std::list<waiting_thread> wait_for_turn_;
  std::string served_last_;  // the program that got the turn
  doorbell work_;            // rings for a waiting call, for the turn, and at the end

  mutable std::mutex clients_mutex_;
  std::map<std::uint64_t, std::shared_ptr<service_client>> clients_;
  std::vector<std::thread> threads_;  // of the pool
  decltype(clients_) leaving_;        // when it stops
  bool turned_away_ = false;          // a client, without telling it
  monotonic::time_point ask_again_at_;

  mutable std::mutex handlers_mutex_;
  std::condition_variable returned_;
  running* handlers_ = nullptr;

  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace orc::detail
