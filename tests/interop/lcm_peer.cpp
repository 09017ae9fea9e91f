// A peer on liblcm, through its C API. See peer.h.
#include <lcm/lcm.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "interop/peer.h"

namespace {

using namespace orc::test;

class lcm_end {
 public:
  lcm_end(lcm_t*& lcm, std::string channel, mode how) : channel_(std::move(channel)), lcm_(lcm) {
    if (how == mode::send) return;
    auto* const subscription = ::lcm_subscribe(lcm_, channel_.c_str(), &on_message, this);
    if (subscription == nullptr) throw std::runtime_error("lcm_subscribe " + channel_);
    // What liblcm loses by default is what its queue of 30 messages does not hold.
    if (how == mode::receive) ::lcm_subscription_set_queue_capacity(subscription, 1000);
  }
  lcm_end(const lcm_end&) = delete;
  lcm_end& operator=(const lcm_end&) = delete;

  [[nodiscard]] bool publish(const void* data, std::size_t size) {
    return ::lcm_publish(lcm_, channel_.c_str(), data, static_cast<unsigned>(size)) == 0;
  }
  template <class Use>
  [[nodiscard]] bool take(int timeout_ms, Use use) {
    use_ = use;
    return ::lcm_handle_timeout(lcm_, timeout_ms) >= 0;
  }

 private:
  static void on_message(const lcm_recv_buf_t* message, const char* channel, void* self) {
    static_cast<lcm_end*>(self)->use_(channel, message->data, message->data_size);
  }

  const std::string channel_;
  lcm_t* const lcm_;
  std::function<void(const std::string&, const void*, std::size_t)> use_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  lcm_t* lcm = ::lcm_create(words.at(1).c_str());
  if (lcm == nullptr) return 1;
  const int status = run_peer<lcm_end>(words, lcm);
  ::lcm_destroy(lcm);
  return status;
}
