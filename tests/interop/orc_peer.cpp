// A peer on ORC without a broker. See peer.h.
#include <stdexcept>
#include <string>
#include <vector>

#include "interop/peer.h"
#include "orc.h"

namespace {

using namespace orc::test;

class orc_end {
 public:
  orc_end(orc::participant& participant, std::string channel, mode how) : channel_(std::move(channel)) {
    if (how == mode::send) {
      check(participant.register_topic(channel_).result());
      out_ = participant.publisher(channel_);
    } else {
      check(participant
                .request_topic(channel_,
                               {.conflate = how == mode::newest ? 1 : 0, .depth = how == mode::newest ? 0U : 1000U})
                .result());
      in_ = participant.subscriber(channel_);
    }
  }

  [[nodiscard]] bool publish(const void* data, std::size_t size) {
    const auto done = out_.send(data, size);
    if (!done) std::fprintf(stderr, "orc_peer: %s\n", done.error().message().c_str());
    return static_cast<bool>(done);
  }
  template <class Use>
  [[nodiscard]] bool take(int timeout_ms, Use use) {
    const orc::message got = in_.recv(timeout_ms);
    if (got) use(channel_, got.data(), got.size());
    return got || got.status() == orc::errc::timed_out;
  }

 private:
  static void check(const orc::result& done) {
    if (!done) throw std::runtime_error(done.error().message());
  }

  const std::string channel_;
  orc::publisher out_;
  orc::subscriber in_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  orc::participant participant({.broker = "none", .transports = {orc::transport::multicast}, .multicast = words.at(1)});
  return run_peer<orc_end>(words, participant);
}
