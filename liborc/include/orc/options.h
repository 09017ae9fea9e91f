// Options, all with plain fields and sensible defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "orc/log.h"
#include "orc/version.h"

namespace orc {

// The ways from a publication to a subscription.
enum class transport : std::uint8_t { inproc = 1, ipc = 2, tcp = 3, shm = 4, multicast = 5 };

[[nodiscard]] ORC_API std::string_view to_string(transport t) noexcept;

// A set of transports. Empty: whatever fits of inproc, ipc and tcp (the default everywhere). shm and multicast are used
// where they are named, by the publisher's side: {shm, ipc, tcp} offers all three, and each subscriber takes the best
// it can reach, in the order inproc, shm, ipc, tcp, multicast. A request that names multicast also hears programs that
// the broker does not know, such as LCM's.
class transport_set {
 public:
  constexpr transport_set() noexcept = default;
  constexpr transport_set(std::initializer_list<transport> list) noexcept {
    for (const transport t : list) insert(t);
  }
  constexpr void insert(transport t) noexcept { bits_ |= 1u << static_cast<unsigned>(t); }
  [[nodiscard]] constexpr bool contains(transport t) const noexcept {
    return (bits_ & (1u << static_cast<unsigned>(t))) != 0;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr bool operator==(const transport_set&) const noexcept = default;

 private:
  unsigned bits_ = 0;
};

// How the network treats a topic's samples beside others, over tcp and multicast. Over the transports within a host it
// has no effect.
//   bulk     Large samples that may wait: last out of each queue that looks at priorities. Over tcp the publisher also
//            limits its rate, so that other queues stay short: a bulk topic yields to other traffic.
//   normal   As any program's traffic.
//   control  Small samples that must not wait: first out of each queue that looks at priorities.
// Sets SO_PRIORITY (2, 0, 6) and the DSCP: bulk LE (RFC 8622, section 5), control CS4 (RFC 4594, section 4.4).
enum class priority : std::uint8_t { bulk, normal, control };

[[nodiscard]] ORC_API std::string_view to_string(priority p) noexcept;

struct participant_options {
  // Endpoints of the address broker, separated by commas, tried in order; a host's name is each of its addresses (8 at
  // most). Empty: $ORC_BROKER, else the user's broker, the system's, tcp://127.0.0.1:5570. Without scheme or port every
  // set-up call returns bad_argument. "none": use no broker; then topics use multicast only, and a subscription
  // receives every sender on its topic's name.
  std::string broker = {};
  // For people, shown by `orc topic list`. Empty: the program's name.
  std::string name = {};
  // How long a set-up call waits for a broker that does not answer, in ms; -1: for ever.
  int broker_timeout_ms = 2000;
  // Address that other hosts should connect to: of IPv4 or IPv6, or a host name that is looked up once, when the
  // participant is made. Empty: $ORC_ADVERTISE, else the address that routes to the broker, or on the broker's own host
  // each of its addresses; these follow the changes of the host's addresses.
  std::string advertise = {};
  // TCP ports on which this participant's topics listen, for firewalls: "40000-40100", or one port "40000". Each topic
  // that is offered over tcp takes one of them, as does, of the UDP ports, each topic over multicast for its repairs.
  // When all are taken, register_topic fails with system_error; anything else than such a text is a bad_argument.
  // Empty: $ORC_PORTS, else any free port.
  std::string ports = {};
  // For topics and requests that name none themselves. Empty: $ORC_TRANSPORTS (comma-separated), else as said above.
  transport_set transports = {};
  // LCM's network for topics on multicast that name none themselves, as a URL
  // (liborc/doc/guide/multicast-and-lcm.md):
  // udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304&interface=lo&fec=20, or an IPv6 group, which LCM programs do
  // not have: udpm://[ff15::76:67]:7667?ttl=1&interface=eth0. Empty: $ORC_MULTICAST, else $LCM_DEFAULT_URL, else
  // udpm://239.255.76.67:7667?ttl=0, which does not leave this host.
  std::string multicast = {};
  log_callback log = {};
};

// What the bytes of a topic are; shown by the tools, never interpreted by ORC.
struct type_info {
  std::string name = {};      // "geometry.Pose"
  std::string encoding = {};  // "flatbuffers", "protobuf", "cdr", "json", …
  std::uint64_t hash = 0;     // of all the others, when there is a schema: computed, so leave it 0
  std::string schema = {};    // bytes, at most 32 KiB

  bool operator==(const type_info&) const = default;
};

// How shm gets its memory. Both cost when memory is taken, so that sending and receiving need not pay.
struct shared_memory_options {
  // Takes all of it at once and keeps it from being swapped out (mlock; limit: ulimit -l). Without the permission
  // register_topic fails with no_permission when expected_size is given; memory that is taken later is taken at once
  // all the same, but may be swapped out. Locks memory for `history`, every subscriber's messages (max_messages and two
  // more; ten before there is a subscriber), and eight more samples. A subscriber that joins waits until its part is
  // locked; sending does not.
  bool lock = false;
  // Uses huge pages where the system grants them (vm.nr_hugepages, else transparent ones).
  bool huge_pages = false;

  bool operator==(const shared_memory_options&) const = default;
};

// For register_topic.
struct topic_options {
  // Transports this topic is offered on. Empty: the participant's. Naming tcp opens a port even when the broker is
  // local. Options of a transport that is not among those named here are refused (bad_argument).
  transport_set transports = {};
  // Size of a typical sample, in bytes: a hint for transports that reserve memory (shm: from the start, instead of with
  // the first subscriber; larger samples make it take more). 0: decided by the samples that are sent.
  std::size_t expected_size = 0;
  // shm: samples that recv_next can go back, at most 65536, including the newest. Subscribers that ask for conflate = 0
  // with a greater depth raise it; 64 MiB of samples are kept at most.
  std::size_t history = 1;
  shared_memory_options memory = {};
  // multicast: the URL of this topic. Empty: the participant's.
  std::string multicast = {};
  type_info type = {};
  // True: a subscription that joins receives the last sample, however old. False (for commands): only subscriptions
  // that are connected when a sample is sent receive it, those that lag included. A subscription that reconnects after
  // an outage joins again.
  bool keep_last = true;
  // Needs tcp or multicast among the transports, if any are named here.
  orc::priority priority = orc::priority::normal;
};

// For request_topic.
struct request_options {
  // 1: a receive returns the newest sample (queue of one). 0: every sample in order, the last `depth` of them.
  int conflate = 1;
  // Length of the queue with conflate = 0: 1 to 65536 samples (and at most 64 MiB kept for one lagging reader at the
  // publisher's side); 0: 64. When it is full the oldest sample is dropped and counted by message::missed(). With
  // conflate = 1 there is no queue: a depth is refused (bad_argument).
  std::size_t depth = 0;
  // Wait this long, in ms, for the link to be up; -1: for ever. 0: do not wait. When it does not come up in time the
  // request stays and the result is errc::timed_out.
  int connected_within_ms = 0;
  // Transports this subscription may use. Empty: the participant's. max_messages and spin_us are refused when shm is
  // not among those named here.
  transport_set transports = {};
  // shm: messages of this subscription that may be alive at a time, 1 to 60: each keeps a place of the publisher's
  // memory. With more of them (one or two may pass) a receive returns too_many_messages; nobody else is held up.
  std::size_t max_messages = 8;
  // shm: a receive that waits looks for so long, in microseconds, before it sleeps: a few microseconds less latency for
  // a core that is busy meanwhile. At most 1,000,000; 0: sleeps at once.
  int spin_us = 0;
  // A receive drops samples that are older than this, in ms, when it would return them, and goes on waiting.
  // message::missed() of the next sample counts them. Negative ages are young enough. 0: returns samples of any age.
  // Between hosts the clocks must agree (message::age_ns).
  int max_age_ms = 0;
};

}  // namespace orc
