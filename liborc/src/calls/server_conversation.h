// A service's view of its conversation with one client: whether the client has introduced itself, which ids it has used
// and which types are accepted. A state machine without I/O, threads and clocks: service_client tells it what happens
// and does what it answers. liborc/doc/design/calls.md has the why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orc::detail {

// One thread at a time.
class server_conversation {
 public:
  // The link from the client.
  struct link_news {
    bool is_new = false;    // it came up
    bool has_gone = false;  // calls that wait end
    bool welcome = false;   // say welcome: the client may not know that it came up
  };
  [[nodiscard]] link_news follow_link(bool connected) noexcept;
  [[nodiscard]] bool is_greeted() const noexcept { return is_greeted_; }

  // ---- hello ----
  enum class hello : std::uint8_t { first, repeated, too_many };
  // `last_id`: that the client has used. `number`: of its pair of types. Repeated: the pair is accepted already.
  // Too many: the client is let go.
  [[nodiscard]] hello take_hello(std::uint64_t number, std::uint64_t last_id) noexcept;
  // Its types are refused. False: it is let go.
  [[nodiscard]] bool refuse() noexcept;
  // `type`: the hash of the requests. False: there are too many.
  [[nodiscard]] bool accept(std::uint64_t number, std::uint64_t type);
  [[nodiscard]] bool accepts(std::uint64_t type) const noexcept;

  // ---- ids of calls ----
  enum class news : std::uint8_t { bad, taken, taken_after_a_gap };
  // bad: of an earlier request, or impossible. After a gap: `missing` requests never arrive.
  [[nodiscard]] news take_request(std::uint64_t id, std::uint64_t& missing) noexcept;
  // open_calls: the client has used the ids up to this one. False: impossible. Before the first hello none is missing.
  [[nodiscard]] bool take_last_id(std::uint64_t id, std::uint64_t& missing) noexcept;

 private:
  bool is_connected_ = false;
  bool is_greeted_ = false;  // the client was heard over the link that is up, and has said hello
  bool first_hello_ = true;
  std::size_t hellos_ = 0;   // over the link that is up
  std::size_t refused_ = 0;  // of these
  std::uint64_t last_id_ = 0;
  std::vector<std::uint64_t> types_;
  std::vector<std::uint64_t> accepted_;  // numbers of pairs, over the link that is up
};

}  // namespace orc::detail
