// Cyclone DDS over UDP on the loopback interface (its shared memory needs iceoryx's daemon, which Debian's build does
// not have): best effort, keep last 1, or keep last `queue`; readers sleep in a waitset. Samples of more than 4 MB are
// reliable, because the socket's buffer loses parts of them. The type is a sequence of octets, as idlc makes it. The
// receiver looks at the sample that the reader lends. The configuration allows the largest messages and the largest
// socket buffers that Cyclone takes.
#include <dds/dds.h>
#include <sample.h>

#include <cstdlib>

#include "peer.h"

namespace {

using namespace peers;

void check(dds_return_t done) {
  if (done < 0) throw std::runtime_error(::dds_strretcode(done));
}

struct node {
  explicit node(const settings&) {
    ::setenv("CYCLONEDDS_URI",
             "<General><Interfaces><NetworkInterface name='lo'/></Interfaces><MaxMessageSize>65500B</MaxMessageSize>"
             "</General><Internal><SocketReceiveBufferSize min='default' max='10MB'/></Internal>",
             0);
    check(participant = ::dds_create_participant(DDS_DOMAIN_DEFAULT, nullptr, nullptr));
  }
  ~node() { ::dds_delete(participant); }
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  [[nodiscard]] dds_entity_t topic(const std::string& name) const {
    const dds_entity_t made = ::dds_create_topic(participant, &peers_Sample_desc, name.c_str(), nullptr, nullptr);
    check(made);
    return made;
  }
  dds_entity_t participant = 0;
};

constexpr std::size_t largest_best_effort = 4'000'000;

dds_qos_t* quality(const settings& s) {
  dds_qos_t* const q = ::dds_create_qos();
  const bool reliable = s.size > largest_best_effort;
  ::dds_qset_reliability(q, reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_SECS(1));
  ::dds_qset_history(q, DDS_HISTORY_KEEP_LAST, static_cast<std::int32_t>(std::max<std::size_t>(s.queue, 1)));
  return q;
}

class writer {
 public:
  writer(node& n, const std::string& topic, const settings& s) {
    dds_qos_t* const q = quality(s);
    check(writer_ = ::dds_create_writer(n.participant, n.topic(topic), q, nullptr));
    ::dds_delete_qos(q);
  }
  void send(bytes sample) {
    peers_Sample out{};
    out.data._length = out.data._maximum = static_cast<std::uint32_t>(sample.size());
    out.data._buffer = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(sample.data()));
    check(::dds_write(writer_, &out));
  }

 private:
  dds_entity_t writer_ = 0;
};

class reader {
 public:
  reader(node& n, const std::string& topic, const settings& s) {
    dds_qos_t* const q = quality(s);
    check(reader_ = ::dds_create_reader(n.participant, n.topic(topic), q, nullptr));
    ::dds_delete_qos(q);
    check(wait_ = ::dds_create_waitset(n.participant));
    check(::dds_waitset_attach(wait_, ::dds_create_readcondition(reader_, DDS_ANY_STATE), reader_));
  }
  bool receive(int timeout_ms, const use_function& use) {
    if (!take(use)) {
      dds_attach_t triggered = 0;
      if (::dds_waitset_wait(wait_, &triggered, 1, DDS_MSECS(timeout_ms)) <= 0) return false;
      return take(use);
    }
    return true;
  }

 private:
  bool take(const use_function& use) const {
    void* sample = nullptr;
    dds_sample_info_t info{};
    if (::dds_take(reader_, &sample, &info, 1, 1) <= 0) return false;
    const auto& data = static_cast<const peers_Sample*>(sample)->data;
    if (info.valid_data) use({reinterpret_cast<const std::byte*>(data._buffer), data._length});
    ::dds_return_loan(reader_, &sample, 1);
    return info.valid_data;
  }

  dds_entity_t reader_ = 0;
  dds_entity_t wait_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
