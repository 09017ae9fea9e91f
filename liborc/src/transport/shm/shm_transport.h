// shm: samples are written once into memory that all subscribers of this host read in place
// (liborc/doc/design/shm.md).
#pragma once

#include "transport/transport.h"

namespace orc::detail {

class shm_transport final : public transport_kind {
 public:
  [[nodiscard]] wire::transport name() const noexcept override { return wire::transport::shm; }
  [[nodiscard]] capabilities can() const noexcept override {
    return {.needs_directory = true, .may_be_missing = true, .sees_end = true};
  }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec& spec) const override;
  [[nodiscard]] link_or_error<subscriber_link> subscribe(const subscription_spec& spec,
                                                         const wire::endpoint& address) const override;
};

}  // namespace orc::detail
