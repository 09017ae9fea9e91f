// The publication's end over shared memory: a segment of slots that all subscribers read in place.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "transport/acceptor.h"
#include "transport/shm/generations.h"
#include "transport/shm/subscribers.h"
#include "transport/transport.h"

namespace orc::detail::shm {

class shm_publisher_link final : public publisher_link {
 public:
  shm_publisher_link(acceptor door, const publication_spec& spec, wire::endpoint where);

  // Takes memory for samples of the expected size now. ok when none is expected.
  [[nodiscard]] result reserve() { return memory_.reserve(); }

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
  [[nodiscard]] std::size_t readers() const noexcept override { return subscribers_.count(); }
  [[nodiscard]] sample_buffer try_loan(std::size_t payload_size) noexcept override;
  void commit(sample& s) noexcept override;
  unfinished service(sample* last) noexcept override;
  [[nodiscard]] int fd() const noexcept override { return subscribers_.fd(); }
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return subscribers_.malformed(); }

 private:
  [[nodiscard]] bool make_room(std::uint64_t size) noexcept;
  [[nodiscard]] std::optional<std::uint32_t> free_slot(slot_writer& of, std::uint64_t size) noexcept;
  [[nodiscard]] bool copy_in(sample& s) noexcept;
  void publish(std::uint32_t slot, std::uint64_t size, const wire::sample_header& header) noexcept;
  void hand_over() noexcept;
  [[nodiscard]] bool admit(sample* last, std::uint64_t size) noexcept;

  const bool keep_last_;
  const wire::endpoint where_;
  generations memory_;
  subscribers subscribers_;
  bool behind_ = false;  // the last sample could not be published for lack of memory
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace orc::detail::shm
