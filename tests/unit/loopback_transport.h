// A whole transport, as small as the contract allows: one box for the newest sample, and one reader of it.
// liborc/doc/design/transports.md goes through it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "transport/transport.h"

namespace orc::test {

class loopback_transport final : public detail::transport_kind {
 public:
  static constexpr auto number = static_cast<wire::transport>(31);  // that no transport of ORC has

  [[nodiscard]] wire::transport name() const noexcept override { return number; }
  [[nodiscard]] detail::capabilities can() const noexcept override { return {.by_default = true}; }
  [[nodiscard]] detail::link_or_error<detail::publisher_link> advertise(
      const detail::publication_spec& spec) const override {
    (*boxes_)[spec.id] = std::make_shared<box>();
    return std::make_unique<publisher>(spec.id, (*boxes_)[spec.id]);
  }
  [[nodiscard]] detail::link_or_error<detail::subscriber_link> subscribe(const detail::subscription_spec& spec,
                                                                         const wire::endpoint&) const override {
    const auto found = boxes_->find(spec.publication);
    if (found == boxes_->end()) return error(errc::refused, "nothing in the loop");
    return std::make_unique<subscriber>(found->second, spec.bell);
  }

 private:
  struct box {
    std::mutex mutex;
    detail::sample newest;
    bool is_new = false;
    std::shared_ptr<detail::doorbell> bell;  // of the reader
  };

  class publisher final : public detail::publisher_link {
   public:
    publisher(const wire::id& id, std::shared_ptr<box> into)
        : where_{number, "loopback://" + id.hex()}, box_(std::move(into)) {}
    [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
    [[nodiscard]] std::size_t readers() const noexcept override {
      const std::lock_guard lock(box_->mutex);
      return box_->bell ? 1 : 0;
    }
    void commit(detail::sample& s) noexcept override {
      const std::lock_guard lock(box_->mutex);
      box_->newest = {detail::share_frame(s.buffer), s.sequence, s.stamp_ns};
      box_->is_new = true;
      if (box_->bell) box_->bell->ring();
    }
    void service(detail::sample*) noexcept override {}
    [[nodiscard]] int fd() const noexcept override { return -1; }
    [[nodiscard]] bool behind() const noexcept override { return false; }
    [[nodiscard]] std::uint64_t dropped() const noexcept override { return 0; }
    [[nodiscard]] std::uint64_t malformed() const noexcept override { return 0; }

   private:
    const wire::endpoint where_;
    const std::shared_ptr<box> box_;
  };

  class subscriber final : public detail::subscriber_link {
   public:
    subscriber(std::shared_ptr<box> from, std::shared_ptr<detail::doorbell> bell) : box_(std::move(from)) {
      const std::lock_guard lock(box_->mutex);
      box_->bell = std::move(bell);
      newest_at_join_ = box_->newest.sequence;
    }
    ~subscriber() override {
      const std::lock_guard lock(box_->mutex);
      box_->bell.reset();
    }
    [[nodiscard]] bool try_recv(detail::sample& out, detail::pick) noexcept override {
      const std::lock_guard lock(box_->mutex);
      if (!std::exchange(box_->is_new, false)) return false;
      out = {detail::share_frame(box_->newest.buffer), box_->newest.sequence, box_->newest.stamp_ns};
      return true;
    }
    [[nodiscard]] bool has_more() const noexcept override { return false; }
    [[nodiscard]] int fd() const noexcept override { return -1; }
    [[nodiscard]] std::uint64_t newest_at_join() const noexcept override { return newest_at_join_; }
    [[nodiscard]] detail::link_state state() const noexcept override { return detail::link_state::connected; }
    [[nodiscard]] std::uint64_t malformed() const noexcept override { return 0; }

   private:
    const std::shared_ptr<box> box_;
    std::uint64_t newest_at_join_ = 0;
  };

  const std::shared_ptr<std::map<wire::id, std::shared_ptr<box>>> boxes_ =
      std::make_shared<std::map<wire::id, std::shared_ptr<box>>>();
};

}  // namespace orc::test
