// ROS 1: roscpp over tcp with TCP_NODELAY, a message of one array of bytes, whose traits stand here because the
// vectors of Debian's headers do not compile as C++20. Queues of one message on both sides as it is best and for newest
// only, else of `queue`; callbacks in the thread that waits. The harness starts the master.
#include <ros/callback_queue.h>
#include <ros/ros.h>

#include <filesystem>
#include <memory>

#include "peer.h"

namespace {

using namespace peers;

struct array {
  bytes out;                  // what is written, where it is
  std::vector<std::byte> in;  // what was read
};

}  // namespace

namespace ros {

namespace message_traits {
template <>
struct MD5Sum<array> {
  static const char* value() { return "f43a8e1b362b75baa741461b46adc7e0"; }
  static const char* value(const array&) { return value(); }
};
template <>
struct DataType<array> {
  static const char* value() { return "peers/Array"; }
  static const char* value(const array&) { return value(); }
};
template <>
struct Definition<array> {
  static const char* value() { return "uint8[] data\n"; }
  static const char* value(const array&) { return value(); }
};
}  // namespace message_traits

namespace serialization {
template <>
struct Serializer<array> {
  template <class Stream>
  static void write(Stream& stream, const array& message) {
    const auto size = static_cast<std::uint32_t>(message.out.size());
    stream.next(size);
    std::memcpy(stream.advance(size), message.out.data(), size);
  }
  template <class Stream>
  static void read(Stream& stream, array& message) {
    std::uint32_t size = 0;
    stream.next(size);
    const auto* const begin = reinterpret_cast<const std::byte*>(stream.advance(size));
    message.in.assign(begin, begin + size);
  }
  static std::uint32_t serializedLength(const array& message) {
    return static_cast<std::uint32_t>(sizeof(std::uint32_t) + message.out.size());
  }
};
}  // namespace serialization

}  // namespace ros

namespace {

std::uint32_t queue_of(const settings& s) { return static_cast<std::uint32_t>(std::max<std::size_t>(s.queue, 1)); }

struct node {
  explicit node(const settings& s) {
    ros::init(ros::M_string(), "peer_" + s.role,
              ros::init_options::AnonymousName | ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
    handle = std::make_unique<ros::NodeHandle>(std::filesystem::path(s.directory).filename().string());
  }
  ~node() { ros::shutdown(); }
  node(const node&) = delete;
  node& operator=(const node&) = delete;
  std::unique_ptr<ros::NodeHandle> handle;
};

class writer {
 public:
  writer(node& n, const std::string& topic, const settings& s) : out_(n.handle->advertise<array>(topic, queue_of(s))) {}
  void send(bytes sample) {
    message_.out = sample;
    out_.publish(message_);
  }

 private:
  ros::Publisher out_;
  array message_;
};

class reader {
 public:
  reader(node& n, const std::string& topic, const settings& s)
      : in_(n.handle->subscribe(topic, queue_of(s), &reader::take, this, ros::TransportHints().tcpNoDelay())) {}
  bool receive(int timeout_ms, const use_function& use) {
    use_ = &use;
    taken_ = false;
    ros::getGlobalCallbackQueue()->callOne(ros::WallDuration(timeout_ms / 1000.0));
    return taken_;
  }

 private:
  void take(const boost::shared_ptr<const array>& message) {
    taken_ = true;
    (*use_)(message->in);
  }

  const use_function* use_ = nullptr;
  bool taken_ = false;
  ros::Subscriber in_;
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
