// Both ends of a multicast link, on real sockets: what a subscription gets that joins after a sample was sent.
#include <cstring>

#include "support/catch.h"
#include "support/test_group.h"
#include "support/value_of.h"
#include "support/wait_until.h"
#include "transport/multicast/multicast_transport.h"

using namespace orc::detail;
using orc::test::wait_until;

namespace {

// A publication and its last sample, as core/publication/publication.cpp has them.
class sending_end {
 public:
  explicit sending_end(bool keep_last) : id(orc::wire::id::random()) {
    publication_spec spec;
    spec.topic = "kept";
    spec.id = id;
    spec.options.multicast = orc::test::test_group();
    spec.options.keep_last = keep_last;
    link = orc::test::value_of(multicast_transport(orc::test::test_group()).advertise(spec));
  }
  void send() {
    sample fresh{allocate_frame(1), last.sequence + 1, 1};
    link->commit(fresh);
    last = std::move(fresh);
  }
  unfinished service() { return link->service(last.buffer ? &last : nullptr); }

  orc::wire::id id;
  std::unique_ptr<publisher_link> link;
  sample last{};
};

class receiving_end {
 public:
  explicit receiving_end(const sending_end& from) {
    subscription_spec spec;
    spec.topic = "kept";
    spec.publication = from.id;
    spec.id = orc::wire::id::random();
    spec.delivery.depth = 16;
    link = orc::test::value_of(multicast_transport(orc::test::test_group()).subscribe(spec, from.link->where()));
  }
  // 0: none.
  std::uint64_t next() {
    link->service();
    sample s;
    return link->try_recv(s) ? s.sequence : 0;
  }
  std::unique_ptr<subscriber_link> link;
};

void connect(sending_end& sender, receiving_end& receiver, std::size_t readers) {
  REQUIRE(wait_until([&] {
    sender.service();
    receiver.link->service();
    sample none;
    if (receiver.link->state() == link_state::connecting) static_cast<void>(receiver.link->try_recv(none));
    return receiver.link->state() == link_state::connected && sender.link->readers() == readers;
  }));
}

}  // namespace

TEST_CASE("multicast: a last sample that is not kept does not go to a subscription that joins later", "[unit]") {
  sending_end sender(false);
  for (int n = 0; n < 5; ++n) sender.send();
  receiving_end receiver(sender);
  connect(sender, receiver, 1);
  CHECK(receiver.link->newest_at_join() == 6);  // the first that can come
  CHECK(!sender.service().behind);
  // Nor is it repaired: two statuses and their reports later there is none.
  const auto end = monotonic::now() + std::chrono::milliseconds(1500);
  while (monotonic::now() < end) {
    sender.service();
    CHECK(receiver.next() == 0);
    static_cast<void>(orc::test::readable(sender.link->fd(), 1));
  }
  sender.send();
  CHECK(wait_until([&] {
    sender.service();
    return receiver.next() == 6;
  }));
}

TEST_CASE("multicast: a last sample that is not kept is repaired for those that were readers", "[unit]") {
  sending_end sender(false);
  receiving_end receiver(sender);
  connect(sender, receiver, 1);
  for (int n = 0; n < 5; ++n) sender.send();
  CHECK(sender.service().behind);
  CHECK(wait_until([&] {
    static_cast<void>(receiver.next());
    return !sender.service().behind;
  }));
  receiving_end late(sender);
  connect(sender, late, 2);
  CHECK(!sender.service().behind);
  CHECK(late.next() == 0);
}

TEST_CASE("multicast: a last sample that is kept goes to a subscription that joins later", "[unit]") {
  sending_end sender(true);
  for (int n = 0; n < 5; ++n) sender.send();
  receiving_end receiver(sender);
  CHECK(wait_until([&] {
    sender.service();
    return receiver.next() == 5;
  }));
  CHECK(receiver.link->newest_at_join() == 5);
}
