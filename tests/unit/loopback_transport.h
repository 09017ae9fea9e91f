// A whole transport, as small as the contract allows: one box for the newest sample, and readers that look into it.
// liborc/doc/design/transports.md goes through it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "transport/transport.h"

namespace orc::test {

class loopback_transport final : public detail::transport_kind {
 public:
  static constexpr auto number = static_cast<wire::transport>(31);  // that no transport of ORC has

  [[nodiscard]] wire::transport name() const noexcept override { return number; }
  [[nodiscard]] detail::capabilities can() const noexcept override { return {.by_default = true}; }
  [[nodiscard]] detail::link_or_error<detail::publisher_link> advertise(
      const detail::publication_spec& spec) const override {
    return std::make_unique<publisher>(spec, boxes_);
  }
  [[nodiscard]] detail::link_or_error<detail::subscriber_link> subscribe(const detail::subscription_spec& spec,
                                                                         const wire::endpoint&) const override {
    const std::lock_guard lock(boxes_->mutex);
    const auto found = boxes_->of.find(spec.publication);
    if (found == boxes_->of.end()) return error(errc::refused, "nothing in the loop");
    return std::make_unique<subscriber>(found->second, spec.bell);
  }

 private:
  struct box {
    std::mutex mutex;
    bool keep_last = true;
    bool closed = false;
    std::shared_ptr<detail::doorbell> joined;
    detail::sample newest;
    std::uint64_t dropped = 0;
    std::vector<std::shared_ptr<detail::doorbell>> bells;  // of the readers
  };
  struct box_list {
    std::mutex mutex;
    std::map<wire::id, std::shared_ptr<box>> of;  // publications that are open
  };

  class publisher final : public detail::publisher_link {
   public:
    publisher(const detail::publication_spec& spec, std::shared_ptr<box_list> boxes)
        : id_(spec.id), where_{number, "loopback://" + spec.id.hex()}, boxes_(std::move(boxes)) {
      box_->keep_last = spec.options.keep_last;
      box_->joined = spec.joined;
      const std::lock_guard lock(boxes_->mutex);
      boxes_->of[id_] = box_;
    }
    ~publisher() override {
      {
        const std::lock_guard lock(boxes_->mutex);
        boxes_->of.erase(id_);
      }
      const std::lock_guard lock(box_->mutex);
      box_->closed = true;
      for (const auto& bell : box_->bells) bell->ring();
    }
    [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
    [[nodiscard]] std::size_t readers() const noexcept override {
      const std::lock_guard lock(box_->mutex);
      return box_->bells.size();
    }
    void commit(detail::sample& s) noexcept override {
      const bool filled = detail::fill(s);
      const std::lock_guard lock(box_->mutex);
      box_->newest = {filled ? detail::share_frame(s.buffer) : detail::sample_buffer(), s.sequence, s.stamp_ns};
      if (!box_->newest.buffer) box_->dropped += box_->bells.size();  // no memory
      for (const auto& bell : box_->bells) bell->ring();
    }
    // The publication may have a sample from before it opened this link.
    detail::unfinished service(detail::sample* last) noexcept override {
      if (last != nullptr && last->sequence > box_->newest.sequence) commit(*last);
      return {};
    }
    [[nodiscard]] int fd() const noexcept override { return -1; }
    [[nodiscard]] std::uint64_t dropped() const noexcept override {
      const std::lock_guard lock(box_->mutex);
      return box_->dropped;
    }
    [[nodiscard]] std::uint64_t malformed() const noexcept override { return 0; }

   private:
    const wire::id id_;
    const wire::endpoint where_;
    const std::shared_ptr<box_list> boxes_;
    const std::shared_ptr<box> box_ = std::make_shared<box>();
  };

  class subscriber final : public detail::subscriber_link {
   public:
    subscriber(std::shared_ptr<box> from, std::shared_ptr<detail::doorbell> bell)
        : box_(std::move(from)), bell_(std::move(bell)) {
      const std::lock_guard lock(box_->mutex);
      box_->bells.push_back(bell_);
      box_->joined->ring();
      if (!box_->keep_last) seen_ = box_->newest.sequence;
      newest_at_join_ = box_->keep_last ? box_->newest.sequence : seen_ + 1;
    }
    ~subscriber() override {
      const std::lock_guard lock(box_->mutex);
      std::erase(box_->bells, bell_);
    }
    [[nodiscard]] bool try_recv(detail::sample& out, detail::pick) noexcept override {
      const std::lock_guard lock(box_->mutex);
      if (box_->newest.sequence <= seen_ || !box_->newest.buffer) return false;
      out = {detail::share_frame(box_->newest.buffer), box_->newest.sequence, box_->newest.stamp_ns};
      if (out.buffer) seen_ = out.sequence;  // else there is no memory: a later look may find it
      return static_cast<bool>(out.buffer);
    }
    [[nodiscard]] bool has_more() const noexcept override { return false; }
    [[nodiscard]] int fd() const noexcept override { return -1; }
    [[nodiscard]] std::uint64_t newest_at_join() const noexcept override { return newest_at_join_; }
    [[nodiscard]] detail::link_state state() const noexcept override {
      const std::lock_guard lock(box_->mutex);
      return box_->closed ? detail::link_state::lost : detail::link_state::connected;
    }
    [[nodiscard]] std::uint64_t malformed() const noexcept override { return 0; }

   private:
    const std::shared_ptr<box> box_;
    const std::shared_ptr<detail::doorbell> bell_;
    std::uint64_t seen_ = 0;  // sequence of the last sample that was taken
    std::uint64_t newest_at_join_ = 0;
  };

  const std::shared_ptr<box_list> boxes_ = std::make_shared<box_list>();
};

}  // namespace orc::test
