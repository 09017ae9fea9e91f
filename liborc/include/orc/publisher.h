// The sending end of a topic as a handle: no name look-up per sample.
#pragma once

#include <cstddef>
#include <memory>

#include "orc/message.h"
#include "orc/result.h"
#include "orc/version.h"

namespace orc {

namespace detail {
class publication;
}

// Cheap to copy; all copies are the same publication. Safe from any thread; calls on one topic are serialised.
// The topic stays registered until broker::unregister_topic or the end of the participant; after that every call
// returns errc::closed.
class ORC_API publisher {
 public:
  publisher() noexcept;
  explicit publisher(std::shared_ptr<detail::publication> publication) noexcept;
  ~publisher();
  publisher(const publisher&) noexcept;
  publisher(publisher&&) noexcept;
  publisher& operator=(const publisher&) noexcept;
  publisher& operator=(publisher&&) noexcept;

  explicit operator bool() const noexcept { return publication_ != nullptr; }

  // Hands one sample to the links and returns; never waits for a subscriber, the broker or the network
  // (contract.md 2, ORC paper section II). The bytes are copied once, whatever the number of subscribers. Without
  // subscribers the sample is kept as the last value for those that join later.
  // Fails with bad_argument (null data with size > 0), no_memory, closed, forked.
  [[nodiscard]] result send(const void* data, std::size_t size) noexcept;

  // Sends a received message on without copying its bytes where the transport allows it (inproc: always).
  // The message is empty afterwards, whatever the result. An empty message is bad_argument.
  [[nodiscard]] result send(message&& msg) noexcept;

  // Memory to fill in place, and sending it. A failed loan is false.
  [[nodiscard]] orc::loan loan(std::size_t size) noexcept;
  [[nodiscard]] result send(orc::loan&& filled) noexcept;

  // Links up now. A subscriber that was killed counts until its connection is seen to be gone.
  [[nodiscard]] std::size_t readers() const noexcept;

 private:
  std::shared_ptr<detail::publication> publication_;
};

}  // namespace orc
