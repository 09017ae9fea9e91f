// A transport whose links are made up: fake_link and fake_publisher_link. Keeps what each attempt asked for, and what
// became of each link.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/publication/publication.h"
#include "support/fake_link.h"
#include "support/fake_publisher_link.h"

namespace orc::test {

class fake_transport final : public detail::transport_kind {
 public:
  // What the test sees of it, also after the transport is in a list.
  struct record {
    detail::capabilities can;  // those of the real one; constant once it is in use
    // Makes the other end of the next link.
    std::function<std::shared_ptr<fake_publisher>()> next = [] { return std::make_shared<fake_publisher>(); };
    std::optional<error> refusal;  // instead of a link
    std::vector<detail::subscription_spec> asked;
    std::vector<wire::endpoint> asked_at;
    std::vector<std::shared_ptr<fake_publisher>> publishers;
    bool advertises = false;         // else a publication cannot open
    std::size_t largest = SIZE_MAX;  // sample that its publisher links take, in bytes
    bool has_events = false;         // its publisher links have a descriptor
    std::vector<std::shared_ptr<publisher_link_record>> links;

    [[nodiscard]] fake_publisher& last() { return *publishers.back(); }
  };

  fake_transport(wire::transport name, std::shared_ptr<record> seen) : name_(name), seen_(std::move(seen)) {}

  [[nodiscard]] wire::transport name() const noexcept override { return name_; }
  [[nodiscard]] detail::capabilities can() const noexcept override { return seen_->can; }
  [[nodiscard]] detail::link_or_error<detail::publisher_link> advertise(
      const detail::publication_spec& spec) const override {
    if (!seen_->advertises) return seen_->refusal.value_or(error(errc::refused, "no way to listen"));
    seen_->links.push_back(std::make_shared<publisher_link_record>());
    seen_->links.back()->where = {name_, "fake:/" + spec.directory};
    seen_->links.back()->largest = seen_->largest;
    if (seen_->has_events) seen_->links.back()->events.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return std::make_unique<fake_publisher_link>(seen_->links.back());
  }
  [[nodiscard]] detail::link_or_error<detail::subscriber_link> subscribe(const detail::subscription_spec& wanted,
                                                                         const wire::endpoint& where) const override {
    seen_->asked.push_back(wanted);
    seen_->asked_at.push_back(where);
    if (seen_->refusal) return *seen_->refusal;
    auto publisher = seen_->next();
    publisher->bell = wanted.bell;
    seen_->publishers.push_back(publisher);
    return std::make_unique<fake_link>(std::move(publisher));
  }

 private:
  const wire::transport name_;
  const std::shared_ptr<record> seen_;
};

// Transports in the order of a subscription's choice, with a record of each.
class fake_transports {
 public:
  std::shared_ptr<fake_transport::record> add(wire::transport name) {
    using wire::transport;
    auto seen = std::make_shared<fake_transport::record>();
    seen->can = {.needs_broker = name != transport::multicast,
                 .leaves_host = name == transport::tcp || name == transport::multicast,
                 .by_default = name == transport::inproc || name == transport::ipc || name == transport::tcp,
                 .needs_directory = name == transport::ipc || name == transport::shm,
                 .repeats_late = name == transport::tcp,
                 .checks_path = name == transport::tcp,
                 .sees_end = name == transport::ipc || name == transport::tcp || name == transport::shm};
    list_->push_back(std::make_unique<fake_transport>(name, seen));
    return seen;
  }
  [[nodiscard]] std::shared_ptr<const detail::transport_list> list() const { return list_; }

 private:
  std::shared_ptr<detail::transport_list> list_ = std::make_shared<detail::transport_list>();
};

}  // namespace orc::test
