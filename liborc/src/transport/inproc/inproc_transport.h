// inproc: a sample changes hands inside the process. No socket and no I/O thread: the publisher puts a reference to the
// frame into each reader's queue and rings its bell. liborc/doc/design/inproc.md says why.
#pragma once

#include <memory>

#include "transport/inproc/inproc_registry.h"
#include "transport/transport.h"

namespace orc::detail {

class inproc_transport final : public transport_kind {
 public:
  explicit inproc_transport(std::shared_ptr<inproc_registry> local_publications)
      : local_publications_(std::move(local_publications)) {}
  [[nodiscard]] wire::transport name() const noexcept override { return wire::transport::inproc; }
  [[nodiscard]] capabilities can() const noexcept override { return {.by_default = true}; }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec& spec) const override;
  [[nodiscard]] link_or_error<subscriber_link> subscribe(const subscription_spec& spec,
                                                         const wire::endpoint& address) const override;

 private:
  std::shared_ptr<inproc_registry> local_publications_;
};

}  // namespace orc::detail
