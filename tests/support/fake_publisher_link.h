// A publication's link without readers: the test sees what is sent, and decides what the link reports.
#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files/unique_fd.h"
#include "transport/transport.h"

namespace orc::test {

// What the test sees of one link, also after it has ended.
struct publisher_link_record {
  wire::endpoint where;
  std::size_t readers = 1;
  std::size_t largest = SIZE_MAX;
  std::uint64_t dropped = 0;
  int behind_for = 0;  // so many calls of service()
  detail::monotonic::duration pause{};
  bool is_outdated = false;
  bool lends = false;        // try_loan succeeds
  bool shares = false;       // commit() calls fill()
  detail::unique_fd events;  // none: fd() is -1
  std::atomic<int> services{0};

  std::vector<std::uint64_t> committed;          // sequences
  std::vector<std::uint64_t> in_callers_memory;  // those whose bytes were there
  std::vector<std::uint64_t> offered;            // the sequence of the last sample, at each service(); 0: none
  bool is_open = true;
};

class fake_publisher_link final : public detail::publisher_link {
 public:
  explicit fake_publisher_link(std::shared_ptr<publisher_link_record> seen) : seen_(std::move(seen)) {}
  ~fake_publisher_link() override { seen_->is_open = false; }

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return seen_->where; }
  [[nodiscard]] bool is_outdated() const override { return seen_->is_outdated; }
  [[nodiscard]] std::size_t readers() const noexcept override { return seen_->readers; }
  [[nodiscard]] std::size_t max_sample_bytes() const noexcept override { return seen_->largest; }
  [[nodiscard]] detail::sample_buffer try_loan(std::size_t size) noexcept override {
    return seen_->lends ? detail::allocate_frame(size) : detail::sample_buffer();
  }
  void commit(detail::sample& s) noexcept override {
    seen_->committed.push_back(s.sequence);
    if (s.source.data() != nullptr) seen_->in_callers_memory.push_back(s.sequence);
    if (seen_->shares) (void)detail::fill(s);
  }
  detail::unfinished service(detail::sample* last) noexcept override {
    seen_->offered.push_back(last != nullptr ? last->sequence : 0);
    eventfd_t rings = 0;
    if (seen_->events) (void)::eventfd_read(seen_->events.get(), &rings);
    ++seen_->services;
    if (seen_->behind_for > 0) --seen_->behind_for;
    return {.behind = seen_->behind_for > 0, .pause = seen_->pause};
  }
  [[nodiscard]] int fd() const noexcept override { return seen_->events.get(); }
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return seen_->dropped; }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return 0; }

 private:
  const std::shared_ptr<publisher_link_record> seen_;
};

}  // namespace orc::test
