// Options: plain fields with sensible defaults. A set-up call returns bad_argument for a value outside the stated
// range. Times are std::chrono durations, such as 50ms or 500us, and none of them may be negative.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "orc/log.h"
#include "orc/timeout.h"
#include "orc/type_description.h"
#include "orc/version.h"

namespace orc {

// How samples travel from a publication to a subscription.
enum class transport : std::uint8_t { inproc = 1, ipc = 2, tcp = 3, shm = 4, multicast = 5 };

// Returns the transport's name, such as "ipc".
[[nodiscard]] ORC_API std::string_view to_string(transport t) noexcept;

// A set of transports. Empty, the default everywhere, means inproc, ipc and tcp, as far as they fit. shm and multicast
// are used only where the publisher's side names them: {shm, ipc, tcp} offers all three. Each subscriber takes the
// first that it can reach of inproc, shm, ipc, tcp, multicast. A request that names multicast also receives from
// programs that the broker does not know, such as LCM's.
class transport_set {
 public:
  // The empty set, or the set of the transports in `list`.
  constexpr transport_set() noexcept = default;
  constexpr transport_set(std::initializer_list<transport> list) noexcept {
    for (const transport t : list) insert(t);
  }
  // Adds a transport.
  constexpr void insert(transport t) noexcept { bits_ |= 1u << static_cast<unsigned>(t); }
  // Whether the set names this transport.
  [[nodiscard]] constexpr bool contains(transport t) const noexcept {
    return (bits_ & (1u << static_cast<unsigned>(t))) != 0;
  }
  // Whether the set names no transport.
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  // Whether both name the same transports.
  constexpr bool operator==(const transport_set&) const noexcept = default;

 private:
  unsigned bits_ = 0;
};

// How the network treats a topic's samples beside other traffic, over tcp and multicast. No effect within a host.
// - bulk: large samples that may wait. Last out of each queue that honours priorities. Over tcp the publisher also
//   limits its rate, so that queues stay short and other traffic goes first.
// - normal: the same as other programs' traffic.
// - control: small samples that must not wait. First out of each queue that honours priorities.
//
// Sets SO_PRIORITY (2, 0, 6) and the DSCP: bulk LE (RFC 8622, section 5), control CS4 (RFC 4594, section 4.4).
enum class priority : std::uint8_t { bulk, normal, control };

// Returns the priority's name, such as "bulk".
[[nodiscard]] ORC_API std::string_view to_string(priority p) noexcept;

// For the constructor of orc::participant.
struct participant_options {
  // Endpoints of the address broker, separated by commas, tried in order. A host name stands for each of its addresses,
  // at most 8. Empty: $ORC_BROKER, else the user's broker, the system's broker, tcp://127.0.0.1:5570. An endpoint
  // without scheme or port is a bad_argument. "none" means no broker: topics then use multicast only, and a
  // subscription receives from every sender on its topic's name.
  std::string broker = {};
  // The participant's name, for people; `orc topic list` shows it. Empty: the program's name.
  std::string name = {};
  // Stands before each name of a topic, service or parameter that the program uses, with a slash between them, so that
  // several robots run the same programs at one broker or in one network. "robot7" makes "pose" into "robot7/pose";
  // a name that begins with a slash is used without it: "/estop" is the topic "estop". A namespace may have several
  // parts, "lab/robot7". Each part is of A-Z a-z 0-9 _ . - and does not begin with a dot; all together have at most 253
  // bytes. Another text is a bad_argument. "/": none. Empty: $ORC_NAMESPACE, else none.
  std::string name_space = {};
  // A set-up call waits so long for the broker's answer, and ten round trips more where one to a broker on another host
  // takes 0.2 s or more. 0: not at all; orc::forever: without limit.
  std::chrono::nanoseconds broker_timeout = std::chrono::seconds(2);
  // Address that other hosts connect to: an IPv4 or IPv6 address, or a host name, which is looked up once when the
  // participant is made. Empty: $ORC_ADVERTISE, else the address that routes to the broker; on the broker's own host,
  // each address of the host. ORC follows changes of the addresses that it chooses itself.
  std::string advertise = {};
  // TCP and UDP ports on which this participant's topics listen, for firewalls: "40000-40100", or one port "40000".
  // Each topic over tcp takes one TCP port. Each topic over multicast takes one UDP port, for repairs. When all are
  // taken, register_topic returns system_error. Any other text is a bad_argument. Empty: $ORC_PORTS, else any free
  // port.
  std::string ports = {};
  // Transports of topics and requests that name none. Empty: $ORC_TRANSPORTS (comma-separated), else the default of
  // transport_set.
  transport_set transports = {};
  // Network of topics on multicast that name none, as a URL in LCM's form (liborc/doc/guide/multicast-and-lcm.md):
  // udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304&interface=lo&fec=20. IPv6 groups work too, but LCM programs
  // do not have them: udpm://[ff15::76:67]:7667?ttl=1&interface=eth0. Empty: $ORC_MULTICAST, else $LCM_DEFAULT_URL,
  // else udpm://239.255.76.67:7667?ttl=0, which does not leave this host.
  std::string multicast = {};
  // Receives log messages (orc/log.h). Empty: they are dropped, but why a process is not traced (ORC_TRACE) goes to
  // stderr.
  log_callback log = {};
  // Priority of the participant's own thread, which is named "orc": it makes links and talks to the broker, and no
  // sample passes through it. 1 to 99: SCHED_FIFO with this priority. 0: SCHED_OTHER. -1: as the thread that makes the
  // participant; make it before that thread becomes a real-time one, or set 0. Where the permission is missing, each
  // set-up call returns no_permission. See liborc/doc/guide/real-time.md.
  int housekeeping_priority = -1;
  // CPUs on which that thread may run, such as {0, 1}. Empty: those of the thread that makes the participant.
  std::vector<int> housekeeping_cpus = {};
};

// Whether a subscription takes samples of another type than the one it expects.
// - on: it makes no link to a publication whose type does not match.
// - off: it takes what comes.
enum class type_check : std::uint8_t { on, off };

// How shm gets its memory. Both options take time when memory is taken, so that send and receive take less.
struct shared_memory_options {
  // Takes all memory at once and locks it, so that it is not swapped out (mlock; limit: ulimit -l). Locks memory for
  // `history`, max_messages + 2 samples per subscriber (at least 10 in all), and 8 more samples. Without the
  // permission, register_topic returns no_permission when expected_size is given. Memory that is taken later is then
  // still taken at once, but may be swapped out. A subscriber that joins waits until its part is locked; send does not.
  bool lock = false;
  // Uses huge pages where the system grants them (vm.nr_hugepages, else transparent ones).
  bool huge_pages = false;

  // Whether all fields are equal.
  bool operator==(const shared_memory_options&) const = default;
};

// For register_topic.
struct topic_options {
  // Transports of this topic. Empty: the participant's. Naming tcp opens a port even when the broker is local. Setting
  // an option of a transport that is not named here is a bad_argument.
  transport_set transports = {};
  // Size of a typical sample, in bytes, at most 64 GiB. Shm reserves memory for it at once instead of with the first
  // subscriber, and takes more when samples are larger. 0: the samples that are sent decide.
  std::size_t expected_size = 0;
  // shm: how many samples recv_next can go back, including the newest: 1 to 65536. Subscribers with conflate = 0 and a
  // greater depth raise it. At most 64 MiB of samples are kept.
  std::size_t history = 1;
  // shm: how it gets its memory.
  shared_memory_options memory = {};
  // multicast: the network of this topic, as a URL. Empty: the participant's.
  std::string multicast = {};
  // The type of the samples (orc/type_description.h). Subscriptions that expect another type make no link. Empty: the
  // topic is untyped and matches any subscription.
  type_description type = {};
  // True: a subscription that joins receives the last sample, however old. False, for commands: a sample reaches only
  // the subscriptions that are connected when it is sent, also those that lag. A subscription that reconnects after an
  // outage joins again.
  bool keep_last = true;
  // Needs tcp or multicast in `transports`, unless that is empty.
  orc::priority priority = orc::priority::normal;
  // True: other participants may publish the topic too, if they also set it; at most 64 in all. A topic that one
  // participant publishes without it, and one that others share, refuse each other with name_taken
  // (liborc/doc/guide/shared-topics.md). Needs a broker: without one it is a bad_argument.
  bool shared = false;
};

// Which samples of a shared topic a subscription with conflate = 1 returns. No effect on other topics.
// - all: the newest of all publishers. A sample that is older than another publisher's is dropped.
// - each: the newest of each publisher, in turn.
enum class newest_of : std::uint8_t { all, each };

// How a receive waits for a sample.
// - block: it sleeps until the sample wakes it.
// - predictive: for streams with a period, such as those of control loops. The subscription learns the period. A
//   receive sleeps until shortly before the next sample and then watches for it. That saves the receiver the time of a
//   wake-up, and the publisher most of send(). A stream without a period, and one whose period varies by more than
//   cpu_budget pays for, is received as with block: link_info::reason says so. Sets the timer slack of the receiving
//   thread to 1 ns. No effect on shared topics, and none on an event loop that polls subscriber::fd().
enum class wait : std::uint8_t { block, predictive };

// For request_topic.
struct request_options {
  // 1: a receive returns the newest sample (queue of one). 0: a receive returns every sample in order, of the last
  // `depth`.
  int conflate = 1;
  // Length of the queue with conflate = 0: 1 to 65536 samples; 0 means 64. A publisher keeps at most 64 MiB for all its
  // lagging readers over ipc and tcp. When the queue is full, the oldest sample is dropped, and message::missed()
  // counts it. With conflate = 1 there is no queue, and a depth is a bad_argument.
  std::size_t depth = 0;
  // request_topic waits so long for the link. 0: not at all; orc::forever: without limit. When the time has passed,
  // request_topic returns timed_out and the request stays.
  std::chrono::nanoseconds connected_within = {};
  // Transports this subscription may use. Empty: the participant's. When they are named without shm, max_messages is a
  // bad_argument.
  transport_set transports = {};
  // shm: how many messages of this subscription may exist at a time, 1 to 60. Each occupies a part of the publisher's
  // memory. With more of them a receive returns too_many_messages; one or two more may pass. The publisher and other
  // subscribers do not notice.
  std::size_t max_messages = 8;
  // How long a receive spins before it sleeps, at most a second. It saves the time of a wake-up and keeps a core busy
  // meanwhile. 0: it sleeps at once.
  std::chrono::nanoseconds spin = {};
  // How a receive waits. See link_info::prediction for what it achieves and costs.
  orc::wait wait = wait::block;
  // wait::predictive: the share of a core that watching may cost on average, above 0 and at most 1.
  double cpu_budget = 0.1;
  // Maximum age of a sample, at most 49 days. A receive drops an older sample when it would return it, and goes on
  // waiting. message::missed() of the next sample counts the dropped ones. A negative age is young enough. 0: any age.
  // Between hosts the clocks must agree (message::age_ns).
  std::chrono::nanoseconds max_age = {};
  // The type that the samples must have (orc/schema.h, check_types). With another type there is no link, and
  // request_topic or wait_connected returns type_mismatch. Empty: any type.
  type_description type = {};
  // off: a link is made whatever the types are.
  orc::type_check type_check = orc::type_check::on;
  // Shared topics. With conflate = 0 a receive returns every sample of each publisher, in the publisher's order, and
  // each publisher has a queue of `depth`; `each` is then a bad_argument.
  orc::newest_of newest_of = orc::newest_of::all;
};

}  // namespace orc
