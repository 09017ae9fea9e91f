// ORC over one transport: inproc, ipc, tcp, shm, multicast. Newest only (conflate = 1), unless a queue is asked for.
// `spin` is request_options::spin, over shm. The receiver looks at the sample where it arrived.
#include "orc/participant.h"

#include "peer.h"

namespace {

using namespace peers;

struct node {
  explicit node(const settings& s)
      : participant({.name = s.role, .multicast = "udpm://239.255.76.67:7767?ttl=0&recv_buf_size=2097152"}) {
    for (const auto each : {orc::transport::inproc, orc::transport::ipc, orc::transport::tcp, orc::transport::shm,
                            orc::transport::multicast}) {
      if (orc::to_string(each) == s.transport) transports.insert(each);
    }
  }
  orc::participant participant;
  orc::transport_set transports;
};

void check(const orc::result& done) {
  if (!done) throw std::runtime_error(done.error().message());
}

class writer {
 public:
  writer(node& n, const std::string& topic, const settings& s) {
    out_ = n.participant.register_topic(topic, {.transports = n.transports, .expected_size = s.size});
    check(out_.result());
  }
  void send(bytes sample) { check(out_.send(sample.data(), sample.size())); }

 private:
  orc::publisher out_;
};

class reader {
 public:
  reader(node& n, const std::string& topic, const settings& s) {
    orc::request_options wish{.transports = n.transports, .spin = std::chrono::microseconds(s.spin ? 1'000'000 : 0)};
    if (s.queue > 1) {
      wish.conflate = 0;
      wish.depth = s.queue;
    }
    in_ = n.participant.request_topic(topic, wish);
    check(in_.result());
  }
  bool receive(int timeout_ms, const use_function& use) {
    const orc::message sample = in_.recv(timeout_ms);
    if (!sample) return false;
    use(sample.bytes());
    return true;
  }

 private:
  orc::subscriber in_;
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
