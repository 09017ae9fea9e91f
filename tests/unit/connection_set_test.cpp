// Whom a publisher link lets connect, and when connections end.
#include "transport/connection_set.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::detail;
using orc::test::wait_until;

namespace {

struct fake_connection {
  explicit fake_connection(unique_fd fd) : socket(std::move(fd)) {}
  [[nodiscard]] int fd() const noexcept { return socket.get(); }
  [[nodiscard]] bool is_stranger() const noexcept { return !said_hello && !gone; }
  [[nodiscard]] bool is_introduced() const noexcept { return introduced; }
  [[nodiscard]] bool is_reader() const noexcept { return said_hello && !gone; }

  unique_fd socket;
  peer_budget budget;
  bool said_hello = false;
  bool introduced = false;
  bool gone = false;
};

// What the kernel would have: newcomers that wait, events, and the descriptors that are watched.
struct fake_kernel {
  int newcomers = 0;
  std::vector<void*> events;
  std::vector<int> watched;
  bool is_full = false;  // it watches no more descriptors
  bool paused = false;
};

class fake_door {
 public:
  explicit fake_door(fake_kernel& of) : of_(&of) {}
  [[nodiscard]] int fd() const noexcept { return 0; }
  [[nodiscard]] unique_fd accept() noexcept {
    if (of_->newcomers == 0) return {};
    --of_->newcomers;
    return unique_fd(::eventfd(0, EFD_CLOEXEC));
  }
  void pause() noexcept { of_->paused = true; }
  void resume() noexcept { of_->paused = false; }
  [[nodiscard]] bool watch(int fd, void*) noexcept {
    if (!of_->is_full) of_->watched.push_back(fd);
    return !of_->is_full;
  }
  void forget(int fd) noexcept { std::erase(of_->watched, fd); }
  template <typename OnEvent, typename OnConnect>
  void each_event(visit&, OnEvent on_event, OnConnect on_connect) {
    for (void* const who : std::exchange(of_->events, {})) on_event(who, std::uint32_t{EPOLLIN});
    if (of_->newcomers != 0 && !of_->paused) on_connect();
  }

 private:
  fake_kernel* of_;
};

using connections = connection_set<fake_connection, fake_door>;

struct link_with_connections {
  // Returns how long the link would rest afterwards.
  monotonic::duration visit_once() {
    visit now;
    heard.clear();
    set.serve(
        now, [&](fake_connection& from, std::uint32_t) { heard.push_back(&from); },
        [](unique_fd fd) { return std::make_unique<fake_connection>(std::move(fd)); });
    return now.rest();
  }
  // A visit may be over before it begins, on a busy machine.
  void let_in(int count) {
    kernel.newcomers = count;
    REQUIRE(wait_until([&] {
      (void)visit_once();
      return kernel.newcomers == 0;
    }));
  }
  fake_connection& at(std::size_t index) { return **(set.begin() + static_cast<std::ptrdiff_t>(index)); }
  std::size_t close_gone() {
    std::size_t closed = 0;
    (void)set.close_gone([&](fake_connection&) { ++closed; });
    return closed;
  }

  fake_kernel kernel;
  connections set{fake_door(kernel)};
  std::vector<fake_connection*> heard;
};

}  // namespace

TEST_CASE("connection set: a visit accepts a few of a crowd, and leaves the rest to the next one", "[unit]") {
  link_with_connections link;
  link.kernel.newcomers = visit::max_accepted + 3;
  CHECK(link.visit_once() > monotonic::duration::zero());
  CHECK(link.set.size() <= std::size_t{visit::max_accepted});
  CHECK(wait_until([&] {
    (void)link.visit_once();
    return link.kernel.newcomers == 0;
  }));
  CHECK(link.set.size() == visit::max_accepted + 3);
  CHECK(link.kernel.watched.size() == link.set.size());
}

TEST_CASE("connection set: a connection counts as reader once the change is taken over", "[unit]") {
  link_with_connections link;
  link.let_in(2);
  CHECK_FALSE(link.set.close_gone([](fake_connection&) {}));  // nothing changed
  link.at(0).said_hello = true;
  link.set.note_change();
  CHECK(link.set.readers() == 0);
  CHECK(link.set.close_gone([](fake_connection&) {}));
  CHECK(link.set.readers() == 1);
  CHECK(link.set.size() == 2);

  const int fd = link.at(0).fd();
  link.set.leave(link.at(0));
  CHECK(link.set.size() == 2);
  CHECK(link.close_gone() == 1);
  CHECK(link.set.readers() == 0);
  CHECK(link.set.size() == 1);
  CHECK(std::count(link.kernel.watched.begin(), link.kernel.watched.end(), fd) == 0);
  CHECK(::fcntl(fd, F_GETFD) == -1);  // closed
}

TEST_CASE("connection set: events go to their connection, but not to one that left", "[unit]") {
  link_with_connections link;
  link.let_in(3);
  const unique_fd other(::eventfd(0, EFD_CLOEXEC));
  REQUIRE(link.set.wake_with(other.get()));
  CHECK(link.kernel.watched.back() == other.get());
  link.set.leave(link.at(1));
  link.kernel.events = {&link.at(0), &link.at(1), &link.set, &link.at(2)};
  (void)link.visit_once();
  CHECK(link.heard == std::vector<fake_connection*>{&link.at(0), &link.at(2)});
}

TEST_CASE("connection set: of a crowd of strangers, the oldest silent one gives way after a moment", "[unit]") {
  link_with_connections link;
  link.let_in(1);
  link.at(0).introduced = true;
  link.let_in(static_cast<int>(peer_budget::max_strangers) - 1);
  REQUIRE(link.set.size() == peer_budget::max_strangers);
  link.kernel.newcomers = 1;
  fake_connection& oldest_silent = link.at(1);
  REQUIRE(wait_until([&] {
    (void)link.visit_once();
    return link.kernel.newcomers == 0;
  }));
  CHECK(oldest_silent.gone);
  CHECK_FALSE(link.at(0).gone);
  CHECK(link.close_gone() == 1);
  CHECK(link.set.size() == peer_budget::max_strangers);
}

TEST_CASE("connection set: readers take no place of strangers", "[unit]") {
  link_with_connections link;
  link.let_in(static_cast<int>(peer_budget::max_strangers));
  REQUIRE(link.set.size() == peer_budget::max_strangers);
  for (std::size_t n = 0; n < peer_budget::max_strangers; ++n) link.at(n).said_hello = true;
  link.set.note_change();
  CHECK(link.close_gone() == 0);
  link.let_in(static_cast<int>(peer_budget::max_strangers));
  CHECK(link.set.size() == 2 * peer_budget::max_strangers);
  CHECK(link.set.readers() == peer_budget::max_strangers);
}

TEST_CASE("connection set: a sweep ends strangers that say nothing, and looks at the others", "[unit]") {
  link_with_connections link;
  link.let_in(2);
  link.at(0).said_hello = true;
  std::vector<fake_connection*> seen;
  REQUIRE(wait_until([&] {
    seen.clear();
    link.set.sweep([&](fake_connection& each, monotonic::time_point) { seen.push_back(&each); });
    return link.at(1).gone;
  }));
  CHECK(seen == std::vector<fake_connection*>{&link.at(0)});
  CHECK(link.close_gone() == 1);
  CHECK(link.set.size() == 1);
}

TEST_CASE("connection set: without memory for a newcomer, the others wait until a sweep", "[unit]") {
  link_with_connections link;
  link.set.sweep([](fake_connection&, monotonic::time_point) {});  // the next one is a second away
  link.kernel.newcomers = 3;
  REQUIRE(wait_until([&] {
    visit now;
    link.set.serve(
        now, [](fake_connection&, std::uint32_t) {},
        [](unique_fd) -> std::unique_ptr<fake_connection> { throw std::bad_alloc(); });
    return link.kernel.paused;
  }));
  CHECK(link.kernel.newcomers == 2);
  CHECK(link.set.size() == 0);
  CHECK(wait_until([&] {
    link.set.sweep([](fake_connection&, monotonic::time_point) {});
    return !link.kernel.paused;
  }));
}

TEST_CASE("connection set: a newcomer that is refused, or that the kernel cannot watch, is not kept", "[unit]") {
  link_with_connections link;
  link.kernel.newcomers = 1;
  REQUIRE(wait_until([&] {
    visit now;
    link.set.serve(
        now, [](fake_connection&, std::uint32_t) {}, [](unique_fd) { return std::unique_ptr<fake_connection>(); });
    return link.kernel.newcomers == 0;
  }));
  CHECK(link.set.size() == 0);
  link.kernel.is_full = true;
  link.let_in(1);
  CHECK(link.kernel.newcomers == 0);
  CHECK(link.set.size() == 0);
  link.kernel.is_full = false;
  link.let_in(1);
  CHECK(link.set.size() == 1);
}
