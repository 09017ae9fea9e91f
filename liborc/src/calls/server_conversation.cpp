#include "calls/server_conversation.h"

#include <algorithm>
#include <utility>

namespace orc::detail {

namespace {

constexpr std::size_t max_accepted_types = 64;
// Each costs the reading of two schemas, if its pair is not accepted already: on a slow way a client says it again
// before the answer can come. It has at most 64 pairs of types.
constexpr std::size_t max_hellos = 256;
constexpr std::size_t max_refused_hellos = 64;
constexpr std::uint64_t max_id = std::uint64_t{1} << 63;

}  // namespace

server_conversation::link_news server_conversation::follow_link(bool connected) noexcept {
  const bool was_connected = std::exchange(is_connected_, connected);
  const link_news news{.is_new = connected && !was_connected, .has_gone = !connected && was_connected};
  if (news.is_new) {
    is_greeted_ = false;
    hellos_ = refused_ = 0;
    accepted_.clear();
  }
  return {news.is_new, news.has_gone, connected && !is_greeted_};
}

server_conversation::hello server_conversation::take_hello(std::uint64_t number, std::uint64_t last_id) noexcept {
  is_greeted_ = true;
  if (std::ranges::find(accepted_, number) != accepted_.end()) return hello::repeated;
  if (++hellos_ > max_hellos) return hello::too_many;
  // The ids of an earlier server's calls are not missing here.
  if (std::exchange(first_hello_, false)) last_id_ = last_id;
  return hello::first;
}

bool server_conversation::refuse() noexcept { return ++refused_ <= max_refused_hellos; }

bool server_conversation::accept(std::uint64_t number, std::uint64_t type) {
  if (!accepts(type)) {
    if (types_.size() >= max_accepted_types) return false;
    types_.push_back(type);
  }
  accepted_.push_back(number);
  return true;
}

bool server_conversation::accepts(std::uint64_t type) const noexcept {
  return std::ranges::find(types_, type) != types_.end();
}

server_conversation::news server_conversation::take_request(std::uint64_t id, std::uint64_t& missing) noexcept {
  if (id <= last_id_ || id > max_id) return news::bad;
  is_greeted_ = !first_hello_;
  missing = first_hello_ ? 0 : id - 1 - last_id_;
  last_id_ = id;
  return missing != 0 ? news::taken_after_a_gap : news::taken;
}

bool server_conversation::take_last_id(std::uint64_t id, std::uint64_t& missing) noexcept {
  if (id > max_id) return false;
  is_greeted_ = !first_hello_;
  missing = id > last_id_ && !first_hello_ ? id - last_id_ : 0;
  last_id_ += missing;
  return true;
}

}  // namespace orc::detail
