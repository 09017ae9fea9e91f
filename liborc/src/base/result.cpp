// The sentences of the codes. Here, because the broker has results as well.
#include "orc/result.h"

namespace orc {

std::string_view describe(errc code) noexcept {
  switch (code) {
    case errc::ok: return "done";
    case errc::nothing_new: return "nothing new has arrived";
    case errc::timed_out: return "the time allowed has passed";
    case errc::no_broker: return "no address broker answers: start one with orc-broker, or set ORC_BROKER";
    case errc::bad_name: return "a topic name has 1 to 255 bytes of A-Z a-z 0-9 _ . / -";
    case errc::bad_argument: return "an argument makes no sense";
    case errc::name_taken: return "a live publication of another participant holds the topic";
    case errc::not_registered: return "this participant did not register the topic";
    case errc::not_requested: return "this participant did not request the topic";
    case errc::refused: return "the other side refused";
    case errc::no_memory: return "out of memory";
    case errc::no_descriptors: return "out of file descriptors: raise the limit (ulimit -n)";
    case errc::no_permission: return "no permission";
    case errc::system_error: return "a system call failed";
    case errc::closed: return "the topic was unregistered or released, or the participant ended";
    case errc::forked: return "made before fork(): a child process must make its own participant";
    case errc::too_many_messages:
      return "the program holds as many messages of this subscription as it may: drop one, or raise max_messages";
    case errc::unknown_topic: return "no participant publishes or requested the topic";
    case errc::unknown_type: return "the broker does not have the schema of this type";
    case errc::type_mismatch: return "the samples have another type than the one that was requested";
  }
  return "unknown code";
}

}  // namespace orc
