// Where the samples come from: the running system, or a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tools/web/feed/topic_feed.h"

namespace orc::web {

// What a client wants of a topic.
enum class interest : std::uint8_t {
  samples,  // the newest one, ten times a second
  images,   // the newest one, thirty times a second
  plots,    // the numbers of every sample
  messages  // the newest one, sixty times a second
};
inline constexpr std::size_t interests = 4;

class feed_source {
 public:
  feed_source() = default;
  feed_source(const feed_source&) = delete;
  feed_source& operator=(const feed_source&) = delete;
  virtual ~feed_source() = default;

  // Returns the feed of this topic, the same one for all clients, and follows the topic until each open() has its
  // close(). Never waits.
  [[nodiscard]] virtual std::shared_ptr<topic_feed> open(const std::string& topic, interest what) = 0;
  virtual void close(const std::string& topic, interest what) noexcept = 0;
};

// Keeps a feed open.
class open_feed {
 public:
  open_feed(feed_source& from, const std::string& topic, interest what)
      : from_(from), what_(what), feed_(from.open(topic, what)) {}
  ~open_feed() { from_.close(feed_->topic(), what_); }
  open_feed(const open_feed&) = delete;
  open_feed& operator=(const open_feed&) = delete;

  [[nodiscard]] topic_feed& operator*() const noexcept { return *feed_; }
  [[nodiscard]] topic_feed* operator->() const noexcept { return feed_.get(); }

 private:
  feed_source& from_;
  const interest what_;
  const std::shared_ptr<topic_feed> feed_;
};

}  // namespace orc::web
