#include "transport/inproc/inproc_transport.h"

#include <algorithm>
#include <mutex>

#include "base/threads/pi_mutex.h"
#include "transport/inproc/inproc_queue.h"

namespace orc::detail {

// The readers of one publication inside its process. Any thread.
class inproc_hub {
 public:
  inproc_hub(bool keep_last, std::shared_ptr<doorbell> joined) : keep_last_(keep_last), joined_(std::move(joined)) {}

  // Returns the sequence of the first sample that the queue gets: the newest so far, else the next one.
  std::uint64_t attach(const std::shared_ptr<inproc_queue>& queue) {
    const std::lock_guard lock(mutex_);
    sample first = last_.buffer ? frame_of_its_own(last_) : sample();
    if (first.buffer) queue->put(std::move(first));
    queues_.push_back(queue);
    readers_.store(queues_.size());  // before the bell is rung
    if (joined_) joined_->ring();
    return keep_last_ ? last_.sequence : last_.sequence + 1;
  }

  void detach(const std::shared_ptr<inproc_queue>& queue) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(queues_, queue);
    readers_.store(queues_.size(), std::memory_order_relaxed);
  }

  // Returns how many samples were replaced before a reader took them.
  std::uint64_t deliver(sample& s) noexcept {
    const bool filled = fill(s);
    const std::lock_guard lock(mutex_);
    last_ = {filled && keep_last_ ? share(s.buffer) : sample_buffer(), s.sequence, s.stamp_ns};
    if (queues_.empty()) return 0;
    sample frame = filled ? frame_of_its_own(s) : sample();
    if (!frame.buffer) return queues_.size();  // no memory
    std::uint64_t dropped = 0;
    for (const auto& queue : queues_) dropped += queue->put({share(frame.buffer), frame.sequence, frame.stamp_ns});
    return dropped;
  }

  [[nodiscard]] std::size_t readers() const noexcept { return readers_.load(std::memory_order_relaxed); }

 private:
  static sample frame_of_its_own(sample& s) noexcept { return {share_frame(s.buffer), s.sequence, s.stamp_ns}; }

  const bool keep_last_;
  const std::shared_ptr<doorbell> joined_;
  pi_mutex mutex_;
  std::vector<std::shared_ptr<inproc_queue>> queues_;
  std::atomic<std::size_t> readers_{0};
  sample last_;
};

namespace {

class inproc_publisher_link final : public publisher_link {
 public:
  inproc_publisher_link(std::shared_ptr<inproc_registry> local_publications, const publication_spec& spec)
      : local_publications_(std::move(local_publications)),
        id_(spec.id),
        where_{wire::transport::inproc, "inproc://" + spec.id.hex()},
        hub_(std::make_shared<inproc_hub>(spec.options.keep_last, spec.joined)) {
    local_publications_->add(id_, hub_);
  }
  ~inproc_publisher_link() override { local_publications_->remove(id_); }

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
  [[nodiscard]] std::size_t readers() const noexcept override { return hub_->readers(); }
  // Its readers share a frame, also with subscribers over other transports.
  [[nodiscard]] sample_buffer try_loan(std::size_t size) noexcept override {
    return readers() != 0 ? allocate_frame(size) : sample_buffer();
  }
  void commit(sample& s) noexcept override {
    newest_ = s.sequence;
    dropped_.fetch_add(hub_->deliver(s), std::memory_order_relaxed);
  }
  // The publication may have a sample from before it opened this link.
  unfinished service(sample* last) noexcept override {
    if (last != nullptr && last->sequence > newest_) commit(*last);
    return {};
  }
  [[nodiscard]] int fd() const noexcept override { return -1; }
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return 0; }

 private:
  std::shared_ptr<inproc_registry> local_publications_;
  wire::id id_;
  wire::endpoint where_;
  std::shared_ptr<inproc_hub> hub_;
  std::uint64_t newest_ = 0;  // sequence of the last sample that the hub got
  std::atomic<std::uint64_t> dropped_{0};
};

class inproc_subscriber_link final : public subscriber_link {
 public:
  inproc_subscriber_link(std::shared_ptr<inproc_hub> hub, const subscription_spec& spec)
      : hub_(std::move(hub)),
        queue_(std::make_shared<inproc_queue>(spec.delivery, spec.bell)),
        newest_at_join_(hub_->attach(queue_)) {}
  ~inproc_subscriber_link() override { hub_->detach(queue_); }

  [[nodiscard]] bool try_recv(sample& out, pick) noexcept override { return queue_->take(out); }
  [[nodiscard]] bool has_more() const noexcept override { return false; }
  [[nodiscard]] int fd() const noexcept override { return -1; }
  [[nodiscard]] std::uint64_t newest_at_join() const noexcept override { return newest_at_join_; }
  [[nodiscard]] link_state state() const noexcept override { return link_state::connected; }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return 0; }

 private:
  std::shared_ptr<inproc_hub> hub_;
  std::shared_ptr<inproc_queue> queue_;
  std::uint64_t newest_at_join_;
};

}  // namespace

link_or_error<publisher_link> inproc_transport::advertise(const publication_spec& spec) const {
  return std::make_unique<inproc_publisher_link>(local_publications_, spec);
}

link_or_error<subscriber_link> inproc_transport::subscribe(const subscription_spec& spec, const wire::endpoint&) const {
  auto hub = local_publications_->find(spec.publication);
  if (!hub) return error(errc::refused, "other process");
  return std::make_unique<inproc_subscriber_link>(std::move(hub), spec);
}

}  // namespace orc::detail
