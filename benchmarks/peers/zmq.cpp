// libzmq, PUB and SUB: a queue of 1,000 samples per reader, as it comes; ZMQ_CONFLATE where only the newest is asked
// for. The context has one I/O thread, on the core of its process. The receiver looks at the message itself.
#include <zmq.h>

#include "peer.h"

namespace {

using namespace peers;

struct node {
  explicit node(const settings&) {}
};

void* socket(int type) {
  static void* const context = ::zmq_ctx_new();  // inproc needs the same one for both ends
  return ::zmq_socket(context, type);
}

void set(void* socket, int option, int value) { ::zmq_setsockopt(socket, option, &value, sizeof value); }

void check(int done) {
  if (done < 0) throw std::runtime_error(::zmq_strerror(::zmq_errno()));
}

class writer {
 public:
  writer(node&, const std::string& topic, const settings& s) {
    set(socket_, ZMQ_LINGER, 0);
    if (s.queue == 1) set(socket_, ZMQ_CONFLATE, 1);
    const std::string wish = s.transport == "inproc" ? "inproc://" + topic
                             : s.transport == "ipc"  ? "ipc://" + s.directory + "/" + topic
                                                     : "tcp://127.0.0.1:*";
    check(::zmq_bind(socket_, wish.c_str()));
    char endpoint[256];
    std::size_t size = sizeof endpoint;
    check(::zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, endpoint, &size));
    announce(s, topic, endpoint);
  }
  ~writer() { ::zmq_close(socket_); }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  void send(bytes sample) { check(::zmq_send(socket_, sample.data(), sample.size(), 0)); }

 private:
  void* socket_ = socket(ZMQ_PUB);
};

class reader {
 public:
  reader(node&, const std::string& topic, const settings& s) {
    set(socket_, ZMQ_LINGER, 0);
    if (s.queue == 1) set(socket_, ZMQ_CONFLATE, 1);
    check(::zmq_setsockopt(socket_, ZMQ_SUBSCRIBE, "", 0));
    check(::zmq_connect(socket_, announced(s, topic).c_str()));
    ::zmq_msg_init(&message_);
  }
  ~reader() {
    ::zmq_msg_close(&message_);
    ::zmq_close(socket_);
  }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  bool receive(int timeout_ms, const use_function& use) {
    set(socket_, ZMQ_RCVTIMEO, timeout_ms);
    if (::zmq_msg_recv(&message_, socket_, 0) < 0) return false;
    use({static_cast<const std::byte*>(::zmq_msg_data(&message_)), ::zmq_msg_size(&message_)});
    return true;
  }

 private:
  void* socket_ = socket(ZMQ_SUB);
  zmq_msg_t message_{};
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
