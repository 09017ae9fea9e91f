// Follows the types of topics, as the broker reports them, in a thread of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "base/threads/doorbell.h"
#include "orc/directory.h"
#include "tools/web/feed/decoded_type.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

// Any thread may call; no call waits.
class type_watch {
 public:
  // `broker` as directory_options::broker. Throws std::system_error when the system has no thread left.
  explicit type_watch(std::string broker);
  ~type_watch();
  type_watch(const type_watch&) = delete;
  type_watch& operator=(const type_watch&) = delete;

  struct answer {
    bool known = false;                             // the broker has answered for this topic
    std::uint64_t asked = 0;                        // the last ask() that is answered, or cannot be
    std::uint64_t confirmed = 0;                    // the last ask() that the broker answered with a publication
    std::string publication = {};                   // publication_state::id of the one that has the type
    std::shared_ptr<const decoded_type> type = {};  // null: untyped
  };

  // Asks the broker about the topic again, and goes on following it. Returns a number: once answer::asked has reached
  // it, the type is that of the publication of now.
  std::uint64_t ask(const std::string& topic);
  void forget(const std::string& topic);
  [[nodiscard]] answer of(const std::string& topic) const;

 private:
  struct followed {
    std::uint64_t wanted = 0;
    answer is = {};
    std::optional<topic_type> described = {};  // that `is` was made from
    bool lacks_schema = false;                 // the broker did not have it yet
    clock::time_point retry_at = {};           // if it lacks
    clock::duration retry_pause = {};
  };

  void run();
  void take_changes(directory_watch& watch);
  [[nodiscard]] static bool is_news(const publication_state& publication, const followed& known);
  // Of topics that were asked for, and of those whose schema was not there.
  void ask_broker(directory& from);
  void take_over(directory& from, const std::string& topic, const std::optional<publication_state>& publication,
                 std::uint64_t wanted);
  [[nodiscard]] std::shared_ptr<const decoded_type> decoder_of(directory& from, const topic_type& type, bool& lacking);
  // Until the next retry; -1: there is none.
  [[nodiscard]] int wait_ms(bool watches) const;

  const std::string broker_;
  detail::doorbell stop_;
  detail::doorbell bell_;
  std::map<std::uint64_t, std::weak_ptr<const decoded_type>> decoders_;  // by hash; the thread's

  mutable std::mutex mutex_;
  std::map<std::string, followed> topics_;
  std::set<std::string> to_ask_;
  std::thread thread_;
};

}  // namespace orc::web
