// The broker's directory, which the members of a group share: none of them may take another one's place in it.
#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>

#include "orc.h"
#include "orc/directory.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/forked.h"
#include "support/wait_until.h"
#include "transport/sample_backlog.h"
#include "transport/shm/shm_transport.h"
#include "transport/stream/stream_transport.h"

using namespace orc::test;
using namespace std::chrono_literals;
namespace wire = orc::wire;

namespace {

constexpr uid_t other = 65534;  // the user and the group nobody; the victims are root's

// A member of the group, who begins when told to. It must exist before the test has a participant.
class member {
 public:
  template <class Attack>
  explicit member(Attack attack)
      : child_([this, attack] {
          if (::setgroups(0, nullptr) != 0 || ::setgid(other) != 0 || ::setuid(other) != 0) return;
          step_until(1);
          attack();
          *step_ = 2;
          step_until(3);
        }) {}
  ~member() {
    *step_ = 3;
    child_.wait();
  }
  void strike() {
    *step_ = 1;
    REQUIRE(wait_until([&] { return *step_ == 2; }));
  }

 private:
  void step_until(int wanted) const {
    while (*step_ < wanted) ::usleep(1000);
  }
  shared_with_children<std::atomic<int>> step_;
  forked child_;
};

// A broker in a directory of root's, open to the group.
struct shared_broker : broker_process {
  explicit shared_broker(mode_t mode) : broker_process(at::nowhere) {
    REQUIRE(::chown(path().c_str(), 0, other) == 0);
    REQUIRE(::chmod(path().c_str(), mode) == 0);
  }
  [[nodiscard]] std::string path() const { return directory().path().string(); }
  [[nodiscard]] std::string home() const { return path() + "/0"; }
};

// Listens there as if it were the publication, for a while.
void pose(const std::string& directory, const wire::id& id, bool over_shm, const std::atomic<int>& taken) {
  orc::detail::publication_spec spec;
  spec.topic = "t";
  spec.id = id;
  spec.directory = directory;
  spec.lacking = std::make_shared<orc::detail::sample_backlog>();
  auto link = over_shm ? orc::detail::shm_transport().advertise(spec) : orc::detail::ipc_transport().advertise(spec);
  if (!link) return;
  while (taken == 0) {
    (void)(*link)->service(nullptr);
    ::usleep(1000);
  }
}

int unix_listener(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && ::listen(fd, 8) == 0 ? fd : -1;
}

bool is_served(const broker_process& by) {
  orc::participant one(by.options());
  return wait_until([&] { return static_cast<bool>(one.register_topic("served").result()); });
}

}  // namespace

TEST_CASE("run directory: who renames another one's directory does not become its publication", "[fault]") {
  if (::geteuid() != 0) return skip("only root can be two users");
  const bool over_shm = GENERATE(false, true);
  const std::string scheme = over_shm ? "shm://" : "ipc://";
  shared_broker broker(02770);
  const wire::id id = wire::id::random();
  REQUIRE(::mkdir(broker.home().c_str(), 0700) == 0);
  REQUIRE(::chmod(broker.home().c_str(), 0750) == 0);
  shared_with_children<std::atomic<int>> taken;
  forked attacker([&] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(other) != 0 || ::setuid(other) != 0) return;
    std::filesystem::rename(broker.home(), broker.home() + "-away");
    std::filesystem::create_directory(broker.home());
    pose(broker.home(), id, over_shm, *taken);
  });
  const std::string path = broker.home() + "/" + id.hex().substr(0, 16) + (over_shm ? ".shm" : "");
  REQUIRE(wait_until([&] { return std::filesystem::exists(path); }));
  orc::detail::subscription_spec wanted;
  wanted.topic = "t";
  wanted.publication = id;
  wanted.id = wire::id::random();
  wanted.run_directory = broker.path();
  const wire::endpoint at{over_shm ? wire::transport::shm : wire::transport::ipc, scheme + path};
  std::string why;
  REQUIRE(wait_until([&] {  // it may be bound and not listening yet
    const auto link = over_shm ? orc::detail::shm_transport().subscribe(wanted, at)
                               : orc::detail::ipc_transport().subscribe(wanted, at);
    why = link ? "taken" : link.error().message();
    return why.find("cannot connect") == std::string::npos;
  }));
  CHECK(why == "the socket belongs to another user");
  *taken = 1;
  attacker.wait();
}

TEST_CASE("run directory: the broker keeps members from the directories of others", "[fault]") {
  if (::geteuid() != 0) return skip("only root can be two users");
  shared_broker broker(02770);
  member attacker([&] { ::rename(broker.home().c_str(), (broker.home() + "-away").c_str()); });
  broker.start();
  struct stat found {};
  REQUIRE(::stat(broker.path().c_str(), &found) == 0);
  CHECK((found.st_mode & 07777) == 03770);
  orc::participant sender(broker.options("sender"));
  REQUIRE(sender.register_topic("t", {.transports = {orc::transport::ipc}}).result());
  attacker.strike();
  CHECK(std::filesystem::exists(broker.home()));
}

TEST_CASE("run directory: who takes the name of another one's directory keeps no one from publishing", "[fault]") {
  if (::geteuid() != 0) return skip("only root can be two users");
  shared_broker broker(03770);
  broker.start();
  member attacker([&] { ::mkdir(broker.home().c_str(), 0777); });
  attacker.strike();
  for (int n = 0; n < 2; ++n) {  // the second one finds the directory of the first
    orc::participant sender(broker.options("sender"));
    orc::publisher topic = sender.register_topic("t", {.transports = {orc::transport::ipc}});
    INFO(topic.error().message());
    REQUIRE(topic.result());
    orc::participant receiver(broker.options("receiver"));
    orc::subscriber samples = receiver.request_topic("t", {.transports = {orc::transport::ipc}});
    REQUIRE(samples.wait_connected(patience_ms));
  }
  const auto count = std::distance(std::filesystem::directory_iterator(broker.path()), {});
  CHECK(count == 4);  // broker, its lock, 0, and one more
}

TEST_CASE("run directory: the broker listens anew when its socket was removed", "[fault]") {
  if (::geteuid() != 0) return skip("only root can be two users");
  shared_broker broker(02770);
  const std::string socket = broker.path() + "/broker";
  shared_with_children<std::atomic<int>> replaces;
  member attacker([&] {
    ::unlink(socket.c_str());
    ::unlink((socket + ".lock").c_str());
    if (*replaces == 0) return;
    (void)unix_listener(socket);
    (void)::flock(::open((socket + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666), LOCK_EX);
  });
  broker.start();
  REQUIRE(::chmod(broker.path().c_str(), 02770) == 0);  // as without the sticky bit
  SECTION("nothing is there") {}
  SECTION("another one listens there") { *replaces = 1; }
  orc::participant before(broker.options("before"));
  REQUIRE(before.register_topic("before").result());
  attacker.strike();
  CHECK(is_served(broker));
  orc::directory seen({.broker = broker.endpoint()});
  orc::topic_state state;
  CHECK(seen.describe("before", state));  // its session went on
}

TEST_CASE("run directory: names that another user took before do not keep the broker out", "[fault]") {
  if (::geteuid() != 0) return skip("only root can be two users");
  shared_broker broker(03770);
  const std::string socket = broker.path() + "/broker";
  member attacker([&] {
    (void)unix_listener(socket);
    (void)::flock(::open((socket + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666), LOCK_EX);
  });
  attacker.strike();
  broker.start();
  CHECK(is_served(broker));
}

TEST_CASE("run directory: who may not use it is not sent to the group root", "[fault]") {
  if (::geteuid() != 0) return skip("only root can be two users");
  shared_broker broker(GENERATE(mode_t{0700}, mode_t{0755}, mode_t{0750}));
  REQUIRE(::chown(broker.path().c_str(), 0, 0) == 0);
  broker.start();
  child_process listed({"setpriv", "--reuid", std::to_string(other), "--regid", std::to_string(other), "--clear-groups",
                        program("orc"), "topic", "list", "--broker", broker.endpoint()});
  const std::string said = listed.read_all();
  INFO(said);
  CHECK(said.find("usermod") == std::string::npos);
  CHECK(said.find("--group") != std::string::npos);
  CHECK(said.find("tcp") != std::string::npos);
}

TEST_CASE("run directory: --group opens it to a group", "[fault]") {
  if (::geteuid() != 0) return skip("only root can be two users");
  const orc::detail::temporary_directory place;
  REQUIRE(::chmod(place.path().c_str(), 0755) == 0);
  const std::string directory = place.file("run");
  const std::string endpoint = "ipc://" + directory + "/broker";
  child_process broker({program("orc-broker"), "--listen", endpoint, "--group", std::to_string(other)});
  REQUIRE(broker.wait_for_output("serves ipc://"));
  struct stat found {};
  REQUIRE(::stat(directory.c_str(), &found) == 0);
  CHECK((found.st_mode & 07777) == 03770);
  CHECK(found.st_gid == other);
  child_process listed({"setpriv", "--reuid", std::to_string(other), "--regid", std::to_string(other), "--clear-groups",
                        program("orc"), "topic", "list", "--broker", endpoint});
  const std::string said = listed.read_all();
  INFO(said);
  CHECK(listed.wait_for_end() == 0);

  // One that others use stays as it is.
  child_process elsewhere(
      {program("orc-broker"), "--listen", "ipc://" + place.file("broker"), "--group", std::to_string(other)});
  CHECK(elsewhere.wait_for_end() != 0);
  REQUIRE(::stat(place.path().c_str(), &found) == 0);
  CHECK((found.st_mode & 07777) == 0755);
}
