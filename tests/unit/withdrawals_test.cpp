// What is repeated of topics that ended, and who is told when.
#include "core/broker/withdrawals.h"

#include <memory>
#include <vector>

#include "support/catch.h"

using namespace std::chrono_literals;
using orc::detail::announcement;
using orc::detail::deadline;
using orc::detail::monotonic;
using orc::detail::withdrawals;
namespace wire = orc::wire;

namespace {

constexpr auto start = monotonic::time_point() + 1h;

struct fixture {
  std::shared_ptr<announcement> add(std::uint64_t request) {
    auto told = std::make_shared<announcement>();
    all.add(request, wire::unregister_topic{"t", wire::id::random()}, told);
    return told;
  }
  // The requests that are sent now.
  std::vector<std::uint64_t> sent(monotonic::time_point now, std::size_t room = 100) {
    std::vector<std::uint64_t> requests;
    took_all = all.send_due(now, [&](std::uint64_t request, const wire::body& what) {
      if (requests.size() == room) return false;
      CHECK(std::holds_alternative<wire::unregister_topic>(what));
      requests.push_back(request);
      return true;
    });
    return requests;
  }

  withdrawals all;
  bool took_all = true;
};

bool is_over(const std::shared_ptr<announcement>& told) { return static_cast<bool>(told->wait(deadline(0))); }

using requests = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("withdrawals: each is sent at once, and again until it is confirmed", "[unit]") {
  fixture f;
  CHECK(f.all.next() == monotonic::time_point::max());
  const auto first = f.add(16);
  const auto second = f.add(17);
  CHECK(f.all.next() <= start);
  CHECK(f.sent(start) == requests{16, 17});
  CHECK(f.all.next() == start + withdrawals::repeat_after);
  CHECK(f.sent(start + withdrawals::repeat_after - 1ms).empty());
  f.all.end(16);
  CHECK(is_over(first));
  CHECK_FALSE(is_over(second));
  CHECK(f.sent(start + withdrawals::repeat_after) == requests{17});
  f.all.end(17);
  CHECK(is_over(second));
  CHECK(f.sent(start + 1h).empty());
}

TEST_CASE("withdrawals: what a broker does not take now is sent later", "[unit]") {
  fixture f;
  static_cast<void>(f.add(16));
  static_cast<void>(f.add(17));
  CHECK(f.sent(start, 1) == requests{16});
  CHECK_FALSE(f.took_all);
  CHECK(f.sent(start) == requests{17});
  CHECK(f.took_all);
}

TEST_CASE("withdrawals: while no broker answers nobody waits, and the returning broker gets them", "[unit]") {
  fixture f;
  const auto told = f.add(16);
  CHECK(f.sent(start) == requests{16});
  f.all.end_waits();
  CHECK(is_over(told));
  f.all.repeat(start + 1ms);
  CHECK(f.all.next() == start + 1ms);
  CHECK(f.sent(start + 1ms) == requests{16});
}

TEST_CASE("withdrawals: another broker ends all of them", "[unit]") {
  fixture f;
  const auto told = f.add(16);
  f.all.end_all();
  CHECK(is_over(told));
  CHECK(f.sent(start).empty());
}

TEST_CASE("withdrawals: a broker that the session leaves, and may go back to, gets them as well", "[unit]") {
  fixture f;
  f.add(16);
  f.all.remember();
  f.add(17);
  CHECK(f.sent(start) == requests{16, 17});
  f.all.end(16);
  f.all.end(17);
  CHECK(f.sent(start + 1h).empty());
  f.all.end_all();  // the other broker answers
  CHECK(f.sent(start + 1h) == requests{16, 17});
  f.all.forget();
  f.all.end_all();
  CHECK(f.sent(start + 2h).empty());
}
