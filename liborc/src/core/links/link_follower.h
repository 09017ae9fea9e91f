// Keeps a subscription linked to the publication of its topic. It follows what the broker reports, looks for a way with
// a link_selector, and replaces a link that ends or falls silent.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/links/attempt_pace.h"
#include "core/links/departure.h"
#include "core/links/link_selector.h"
#include "core/subscription/inbox.h"
#include "core/subscription/wait_point.h"
#include "core/types/type_gate.h"

namespace orc::detail {

// A link that ends first leaves its samples in the inbox. The wait point watches the present link. Not thread-safe: the
// subscription serialises, with the same lock as the inbox and the wait point. Only the housekeeping thread calls
// update() and step().
class link_follower {
 public:
  // A subscription with an open address waits this long for the broker to name a publication.
  static constexpr auto broker_answers_within = std::chrono::milliseconds(500);
  // How often the path of a link is checked.
  static constexpr auto path_interval = std::chrono::milliseconds(500);

  // `open_address`: multicast URL on which it hears any sender while the broker knows no publication; empty: it does
  // not. `wanted`: as for link_selector. `samples` and `waiting` must live as long.
  link_follower(subscription_spec wanted, transport_set allowed, std::shared_ptr<const transport_list> transports,
                std::string open_address, inbox& samples, wait_point& waiting, monotonic::time_point now);

  // ---- housekeeping ----
  // The broker reports the state of the topic. `pushed`: as an event, not as the answer to a request. `run_directory`:
  // of that broker. `why_not`: why there must be no link to this publication; nothing: there may be one.
  void update(const wire::topic_state& state, bool pushed, const std::string& run_directory,
              std::optional<obstacle> why_not, monotonic::time_point now);
  // The obstacle in the way of the same publication has changed. No effect when there was none, or the publication
  // left.
  void judge(std::optional<obstacle> why_not, monotonic::time_point now);
  // The topic is shared: other subscriptions follow its publications. Ends the link and the search.
  void stand_aside() noexcept;
  // No publication of a shared topic is left. The next update() or step() follows what there is.
  void resume(monotonic::time_point now) noexcept;
  // Goes on with the search, serves the link, and drops it when it has ended.
  void step(monotonic::time_point now);
  // The host's addresses or routes changed. Looks for another link where the present one begins at an address that is
  // gone; step() follows the rest.
  void network_changed(monotonic::time_point now);
  // After step(): long work of a link. The caller does it without the lock, and calls step() again. Null: none.
  [[nodiscard]] std::shared_ptr<upkeep> work() noexcept { return link_ ? link_->work() : selector_.work(); }
  // Descriptors to poll until the next step, and when that is due at the latest.
  void append_fds(std::vector<int>& to) const;
  [[nodiscard]] monotonic::time_point next_step(monotonic::time_point now) const;
  // True: there is no link, and none is on its way.
  [[nodiscard]] bool is_idle() const noexcept { return !link_ && !selector_.waits(); }
  // Ends the link and the search. Drops the samples that the link still has.
  void stop() noexcept;

  // ---- the link ----
  // Null: none. Valid while the lock is held.
  [[nodiscard]] subscriber_link* link() const noexcept { return link_.get(); }
  // True: samples of the publication that the broker reports can arrive.
  [[nodiscard]] bool is_connected() const noexcept;
  // The same, and also when the broker reports that the publication left, but the link proves that it lives.
  [[nodiscard]] bool is_linked() const noexcept;
  [[nodiscard]] const wire::endpoint& linked_to() const noexcept { return linked_to_; }
  // While connected: why this link was chosen, and no better one. Otherwise: why there is no link.
  [[nodiscard]] std::string reason(monotonic::time_point now) const;
  // The same for the broker, which shows it to every user.
  [[nodiscard]] std::string public_reason() const;
  // Why there must be no link to the publication; null: there may be one.
  [[nodiscard]] const obstacle* kept_away_by() const noexcept { return obstacle_ ? &*obstacle_ : nullptr; }
  // Why a link drops samples of some sender: their type is another one. Null: none does.
  [[nodiscard]] const error* type_problem() const noexcept { return type_problem_ ? &*type_problem_ : nullptr; }
  // True once when such a problem begins.
  [[nodiscard]] bool take_type_news() noexcept { return std::exchange(has_type_news_, false); }
  [[nodiscard]] bool has_type_news() const noexcept { return has_type_news_; }
  // Why the search could not begin; nothing: it did, or there is a link.
  [[nodiscard]] std::optional<error> failure() const;
  // Messages of all links that violate the protocol.
  [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_ + (link_ ? link_->malformed() : 0); }

 private:
  void follow(const wire::id& publication, const std::vector<wire::endpoint>& endpoints,
              std::optional<obstacle> why_not, monotonic::time_point now);
  void take_over(const wire::id& next, const std::vector<wire::endpoint>& endpoints);
  void keep_away(obstacle&& why);
  void listen_openly(monotonic::time_point now);
  void look_for_link(monotonic::time_point from);
  void adopt(link_selector::choice&& chosen, monotonic::time_point now);
  void serve_link();
  void watch_path(monotonic::time_point now);
  void look_at_types();
  [[nodiscard]] std::string with_remarks(std::string reason) const;
  [[nodiscard]] bool has_ended() const noexcept;
  // The publication lives, whatever the broker says: its process has not ended, and its host answers.
  [[nodiscard]] bool proves_publication() const noexcept { return link_ && sees_end_ && !is_silent_; }
  void replace_link(monotonic::time_point now);
  void end_link() noexcept;
  void drop_link() noexcept;
  [[nodiscard]] bool knows_publisher() const noexcept { return !departure_.is_said() && publication_; }
  [[nodiscard]] bool may_find_one() const noexcept {
    return knows_publisher() || (selector_.aiming() && selector_.failure());
  }

  inbox& samples_;
  wait_point& waiting_;
  const std::string open_address_;
  monotonic::time_point listen_openly_at_;

  // The publication.
  wire::id publication_;
  wire::id followed_before_;  // while publication_ is none
  std::vector<wire::endpoint> endpoints_;
  std::optional<obstacle> obstacle_;
  departure departure_;
  link_selector selector_;
  attempt_pace pace_;

  // The link.
  std::shared_ptr<subscriber_link> link_;
  wire::endpoint linked_to_;
  monotonic::time_point linked_at_;
  std::string reason_;
  std::string public_reason_;
  bool checks_path_ = false;
  bool sees_end_ = false;
  monotonic::time_point next_look_at_path_;
  std::optional<error> type_problem_;
  bool has_type_news_ = false;
  bool is_uprooted_ = false;     // it begins at an address that this host has no longer
  bool is_silent_ = false;       // the selector looks for another one meanwhile
  std::string last_end_;         // why the last link to this publication ended; empty: it has not
  std::uint64_t malformed_ = 0;  // of links that ended
};

}  // namespace orc::detail
