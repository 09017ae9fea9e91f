// nng, pub0 and sub0: a queue of 128 messages per reader, as it comes, of which a full one drops the oldest. Newest
// only is a queue of one. The receiver looks at the message itself.
#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>

#include "peer.h"

namespace {

using namespace peers;

struct node {
  explicit node(const settings&) {}
};

void check(int error) {
  if (error != 0) throw std::runtime_error(::nng_strerror(error));
}

class writer {
 public:
  writer(node&, const std::string& topic, const settings& s) {
    check(::nng_pub0_open(&socket_));
    nng_listener listener;
    const std::string at = s.transport == "ipc" ? "ipc://" + s.directory + "/" + topic : "tcp://127.0.0.1:0";
    check(::nng_listen(socket_, at.c_str(), &listener, 0));
    int port = 0;
    if (s.transport == "tcp") check(::nng_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT, &port));
    announce(s, topic, s.transport == "ipc" ? at : "tcp://127.0.0.1:" + std::to_string(port));
  }
  ~writer() { ::nng_close(socket_); }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  void send(bytes sample) { check(::nng_send(socket_, const_cast<std::byte*>(sample.data()), sample.size(), 0)); }

 private:
  nng_socket socket_{};
};

class reader {
 public:
  reader(node&, const std::string& topic, const settings& s) {
    check(::nng_sub0_open(&socket_));
    check(::nng_socket_set(socket_, NNG_OPT_SUB_SUBSCRIBE, "", 0));
    check(::nng_socket_set_size(socket_, NNG_OPT_RECVMAXSZ, 0));
    if (s.queue != 0) check(::nng_socket_set_int(socket_, NNG_OPT_RECVBUF, static_cast<int>(s.queue)));
    check(::nng_dial(socket_, announced(s, topic).c_str(), nullptr, 0));
  }
  ~reader() { ::nng_close(socket_); }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  bool receive(int timeout_ms, const use_function& use) {
    check(::nng_socket_set_ms(socket_, NNG_OPT_RECVTIMEO, timeout_ms));
    nng_msg* message = nullptr;
    if (::nng_recvmsg(socket_, &message, 0) != 0) return false;
    use({static_cast<const std::byte*>(::nng_msg_body(message)), ::nng_msg_len(message)});
    ::nng_msg_free(message);
    return true;
  }

 private:
  nng_socket socket_{};
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
