// A service and its clients on a simulated network: the conversations are ORC's own (client_conversation,
// server_conversation), what is around them does what client_channel and service_client do.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calls/call_message.h"
#include "calls/client_conversation.h"
#include "calls/server_conversation.h"
#include "simulation/sim_broker.h"
#include "simulation/sim_stream.h"

namespace orc::test {

struct sim_message {
  detail::call_header header;
  std::vector<std::uint64_t> ids = {};  // of `running`
  std::uint64_t call = 0;               // of a request and its reply: which call of the program it is
};

// A call of a program, from its start to its end.
struct sim_call {
  std::uint64_t number = 0;
  scheduler::time made_at, deadline;
  int ended = 0;
  int executed = 0;
  call_errc how = {};
};

class service_world;

inline constexpr std::size_t sim_server_host = 1;
inline constexpr std::uint64_t sim_type = 7;  // of the requests

// One client and its connection, which survives the server. `kill` begins a new program in its place.
class sim_client {
 public:
  sim_client(service_world& world, std::size_t host, std::size_t index);
  ~sim_client();
  void call(scheduler::duration allowed);
  void stop(bool stopped);
  void restart();
  void break_streams();

 private:
  friend class service_world;
  friend class sim_server;
  struct open {
    std::uint64_t id;
    sim_call* of;
  };
  void begin();
  void tick();
  void take(const sim_message& received, bool missed);
  void act(const detail::client_conversation::actions& now);
  void ask_broker(scheduler::time until);
  void say_hello(std::uint64_t pair);
  void say(detail::call_kind kind, std::uint64_t id);
  void send_request(sim_call& call);
  void end(sim_call& call, call_errc why);
  void end_sent(call_errc why);

  service_world& world_;
  const std::size_t host_;
  const std::size_t index_;
  std::uint64_t pairs_ = 1;  // of types
  std::uint64_t id_ = 0;     // in its topics
  bool stopped_ = false;
  std::unique_ptr<sim_session> session_;
  std::unique_ptr<sim_stream<sim_message>> calls_, replies_;
  detail::client_conversation conversation_;
  std::vector<open> open_;
  std::vector<sim_call*> unsent_;
  std::deque<std::pair<sim_message, bool>> inbox_;  // while it is stopped
  std::shared_ptr<char> program_;                   // for events that come after its end
};

// The server: a thread per client, the table of clients and the watch.
class sim_server {
 public:
  sim_server(service_world& world, std::size_t host);
  ~sim_server();
  void stop(bool stopped);
  void restart();

 private:
  friend class sim_client;
  friend class service_world;
  struct served {
    std::uint64_t client;
    std::uint64_t publication;  // of its calls
    detail::server_conversation conversation = {};
    std::uint64_t number = 0;  // in its welcome
    bool listed = true, was_gone = false, leaving = false, ended = false, is_set_up = false;
    std::optional<std::uint64_t> successor = {};
    std::map<std::uint64_t, std::uint64_t> open = {};  // ids, and calls of the program
    scheduler::time wakes_at = {};
    std::uint64_t wakes = 0;
  };
  void begin();
  void end_program();
  void come(std::uint64_t client, std::uint64_t publication);
  void look_after();
  void set_up(const std::shared_ptr<served>& of);
  void wake(const std::shared_ptr<served>& of);
  void take(std::uint64_t client, const sim_message& received);
  void take(const std::shared_ptr<served>& of, const sim_message& received);
  void run(const std::shared_ptr<served>& of, std::uint64_t id, std::uint64_t call);
  void report(served& of, std::uint64_t last_sent);
  void end(const std::shared_ptr<served>& of);
  void say(const served& of, sim_message what);
  [[nodiscard]] sim_client* client_of(std::uint64_t id) const;

  service_world& world_;
  const std::size_t host_;
  bool stopped_ = false;
  std::unique_ptr<sim_session> session_;
  std::shared_ptr<sim_broker::watch> watch_;
  std::map<std::uint64_t, std::shared_ptr<served>> clients_;
  std::deque<std::pair<std::uint64_t, sim_message>> inbox_;
  std::shared_ptr<char> program_;
};

// A broker on host 0, the server on 1, the clients on the others.
class service_world {
 public:
  struct options {
    std::uint64_t seed = 0;
    bool departure_ends = false;  // sim_stream's
  };
  explicit service_world(const options& wanted);

  // A random scenario; then the network heals. Returns what went wrong; empty: nothing.
  [[nodiscard]] std::string run();
  [[nodiscard]] const std::string& story() const noexcept { return story_; }

 private:
  friend class sim_client;
  friend class sim_server;
  void tell(const std::string& what);
  void plan_fault();
  [[nodiscard]] std::string check(scheduler::time healed);
  [[nodiscard]] sim_call& make_call(scheduler::duration allowed);

  const options options_;
  scheduler time_;
  const std::chrono::milliseconds slowest_;
  sim_network net_;
  sim_broker broker_;
  std::deque<sim_call> calls_;
  std::unique_ptr<sim_server> server_;
  std::vector<std::unique_ptr<sim_client>> clients_;
  bool was_killed_ = false;
  scheduler::time healed_;
  std::string story_;
};

}  // namespace orc::test
