// What a client of the page's protocol has open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tools/web/feed/feed_source.h"
#include "tools/web/feed/system_source.h"
#include "tools/web/memory_budget.h"
#include "tools/web/page_protocol/image_reader.h"
#include "tools/web/session/client_view.h"

namespace orc::web {

class page_system final : public client_view {
 public:
  explicit page_system(system_source& from) : from_(from) { from_.open(); }
  ~page_system() override { from_.close(); }
  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;

 private:
  system_source& from_;
  std::uint64_t sent_ = 0;
  clock::time_point next_ = {};
};

// A topic in one of the three ways. It also reports the topic's state.
class page_topic : public client_view {
 public:
  page_topic(std::uint32_t id, feed_source& from, const std::string& topic, interest what)
      : id_(id), feed_(from, topic, what) {}

 protected:
  // Whether there is a new state to report, also of the view's own.
  [[nodiscard]] bool has_state() const noexcept { return sent_state_ != feed_->state_number() || own_news_; }
  // When to report it: samples that differ can change it with each of them. time_point::max(): there is none.
  [[nodiscard]] clock::time_point state_at() const noexcept {
    return has_state() ? state_at_ : clock::time_point::max();
  }
  [[nodiscard]] bool state_is_due() const noexcept { return has_state() && clock::now() >= state_at_; }
  bool take_state(frame& to);
  // Why the topic is not shown, beyond what the feed says.
  [[nodiscard]] virtual std::string problem() const = 0;
  void report_again() noexcept { own_news_ = true; }

  const std::uint32_t id_;
  const open_feed feed_;
  clock::time_point next_ = {};  // no frame before

 private:
  std::uint64_t sent_state_ = 0;
  bool own_news_ = false;
  clock::time_point state_at_ = {};
};

class page_sample final : public page_topic {
 public:
  page_sample(std::uint32_t id, feed_source& from, const std::string& topic)
      : page_topic(id, from, topic, interest::samples) {}
  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override;

 private:
  [[nodiscard]] std::string problem() const override;

  std::uint64_t sent_ = 0;
};

class page_plot final : public page_topic {
 public:
  // `frame_bytes`: what a frame has at most; outlives this.
  page_plot(std::uint32_t id, feed_source& from, const std::string& topic, const std::string& field, double per_second,
            const std::size_t& frame_bytes)
      : page_topic(id, from, topic, interest::plots),
        plot_(feed_->add_plot(field, per_second)),
        frame_bytes_(frame_bytes) {}
  ~page_plot() override { feed_->remove_plot(plot_); }
  void set_resolution(double per_second) { feed_->set_resolution(*plot_, per_second); }
  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override;

 private:
  [[nodiscard]] std::string problem() const override { return feed_->problem_of(*plot_); }

  const std::shared_ptr<topic_plot> plot_;
  const std::size_t& frame_bytes_;
};

class page_image final : public page_topic {
 public:
  // `frames`: the memory for the pictures that are on their way, of all clients.
  page_image(std::uint32_t id, feed_source& from, const std::string& topic, image_layout layout,
             std::shared_ptr<memory_budget> frames)
      : page_topic(id, from, topic, interest::images), frames_(std::move(frames)), reader_(std::move(layout)) {}
  // The client has drawn the picture.
  void shown() noexcept { in_flight_ = false; }
  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return state_is_due(); }

 private:
  [[nodiscard]] std::string problem() const override { return problem_; }
  [[nodiscard]] bool take_room(const fed_sample& sample, frame& picture);

  const std::shared_ptr<memory_budget> frames_;
  std::size_t needed_ = 0;  // of frames_, for the picture that waits
  image_reader reader_;
  std::uint64_t sent_ = 0;
  bool in_flight_ = false;
  std::string problem_;
};

}  // namespace orc::web
