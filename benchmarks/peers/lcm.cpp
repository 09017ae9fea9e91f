// LCM over UDP multicast: best effort, every message that the socket's buffer (2 MB, as in its paper) and LCM's own
// queue (30 messages, as it comes) take. Newest only is a queue of one. The handler looks at LCM's own buffer.
#include <lcm/lcm.h>

#include "peer.h"

namespace {

using namespace peers;

struct node {
  explicit node(const settings&) : lcm(::lcm_create("udpm://239.255.76.67:7667?ttl=0&recv_buf_size=2097152")) {
    if (lcm == nullptr) throw std::runtime_error("LCM cannot be opened");
  }
  ~node() { ::lcm_destroy(lcm); }
  node(const node&) = delete;
  node& operator=(const node&) = delete;
  lcm_t* lcm;
};

class writer {
 public:
  writer(node& n, std::string topic, const settings&) : node_(n), topic_(std::move(topic)) {}
  void send(bytes sample) {
    if (::lcm_publish(node_.lcm, topic_.c_str(), sample.data(), static_cast<unsigned>(sample.size())) != 0)
      throw std::runtime_error("LCM cannot publish");
  }

 private:
  node& node_;
  std::string topic_;
};

class reader {
 public:
  reader(node& n, const std::string& topic, const settings& s) : node_(n) {
    lcm_subscription_t* const in = ::lcm_subscribe(n.lcm, topic.c_str(), &reader::handle, this);
    if (s.queue != 0) ::lcm_subscription_set_queue_capacity(in, static_cast<int>(s.queue));
  }
  bool receive(int timeout_ms, const use_function& use) {
    use_ = &use;
    return ::lcm_handle_timeout(node_.lcm, timeout_ms) > 0;
  }

 private:
  static void handle(const lcm_recv_buf_t* got, const char*, void* self) {
    (*static_cast<reader*>(self)->use_)({static_cast<const std::byte*>(got->data), got->data_size});
  }

  node& node_;
  const use_function* use_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
