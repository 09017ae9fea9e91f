// Fast DDS with its own shared memory: data sharing where both ends allow it (the type is bounded), else its
// shared-memory transport with segments that hold the largest samples. Best effort, keep last 1, or keep last `queue`;
// published in the caller's thread; readers sleep until a sample is unread. The type is a sequence of octets,
// serialized as its generator does: one copy on each side.
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

#include <memory>

#include "peer.h"

namespace {

using namespace peers;
using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;

struct message {
  bytes out;                  // what is written, where it is
  std::vector<std::byte> in;  // what was read
};
constexpr std::uint32_t head_size = 8;  // of CDR, and the length of the sequence

class sample_type : public TopicDataType {
 public:
  explicit sample_type(std::size_t largest) {
    setName("peers::Sample");
    m_typeSize = head_size + static_cast<std::uint32_t>(largest);
  }
  bool serialize(void* data, SerializedPayload_t* to) override {
    const bytes from = static_cast<message*>(data)->out;
    const auto size = static_cast<std::uint32_t>(from.size());
    const unsigned char little_endian[4] = {0, 1, 0, 0};
    std::memcpy(to->data, little_endian, sizeof little_endian);
    std::memcpy(to->data + 4, &size, sizeof size);
    std::memcpy(to->data + head_size, from.data(), size);
    to->encapsulation = CDR_LE;
    to->length = head_size + size;
    return true;
  }
  bool deserialize(SerializedPayload_t* from, void* data) override {
    std::uint32_t size = 0;
    if (from->length < head_size) return false;
    std::memcpy(&size, from->data + 4, sizeof size);
    if (size > from->length - head_size) return false;
    const auto* const begin = reinterpret_cast<const std::byte*>(from->data + head_size);
    static_cast<message*>(data)->in.assign(begin, begin + size);
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* data) override {
    return [data] { return head_size + static_cast<std::uint32_t>(static_cast<message*>(data)->out.size()); };
  }
  void* createData() override { return new message(); }
  void deleteData(void* data) override { delete static_cast<message*>(data); }
  bool getKey(void*, InstanceHandle_t*, bool) override { return false; }
  [[nodiscard]] bool is_bounded() const override { return true; }
};

template <class T>
T* made(T* object) {
  if (object == nullptr) throw std::runtime_error("Fast DDS refuses");
  return object;
}

struct node {
  explicit node(const settings& s) : type(new sample_type(s.size)) {
    DomainParticipantQos quality;
    quality.transport().use_builtin_transports = false;
    const auto memory = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
    memory->segment_size(static_cast<std::uint32_t>(std::max<std::size_t>(1 << 20, 4 * s.size)));
    memory->max_message_size(static_cast<std::uint32_t>(std::max<std::size_t>(65'536, s.size + 1024)));
    quality.transport().user_transports.push_back(memory);
    quality.transport().user_transports.push_back(
        std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>());
    participant = made(DomainParticipantFactory::get_instance()->create_participant(0, quality));
    type.register_type(participant);
  }
  Topic* topic(const std::string& name) {
    return made(participant->create_topic(name, type.get_type_name(), TOPIC_QOS_DEFAULT));
  }
  TypeSupport type;
  DomainParticipant* participant;
};

template <class Quality>
Quality quality(Quality q, const settings& s) {
  q.reliability().kind = BEST_EFFORT_RELIABILITY_QOS;
  q.durability().kind = VOLATILE_DURABILITY_QOS;
  q.history().kind = KEEP_LAST_HISTORY_QOS;
  q.history().depth = static_cast<std::int32_t>(std::max<std::size_t>(s.queue, 1));
  q.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_MEMORY_MODE;
  q.data_sharing().automatic();
  return q;
}

class writer {
 public:
  writer(node& n, const std::string& topic, const settings& s) {
    Publisher* const publisher = made(n.participant->create_publisher(PUBLISHER_QOS_DEFAULT));
    out_ = made(publisher->create_datawriter(n.topic(topic), quality(DataWriterQos(), s)));
  }
  void send(bytes sample) {
    message_.out = sample;
    if (!out_->write(&message_)) throw std::runtime_error("Fast DDS does not write");
  }

 private:
  DataWriter* out_;
  message message_;
};

class reader {
 public:
  reader(node& n, const std::string& topic, const settings& s) {
    Subscriber* const subscriber = made(n.participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT));
    in_ = made(subscriber->create_datareader(n.topic(topic), quality(DataReaderQos(), s)));
  }
  bool receive(int timeout_ms, const use_function& use) {
    if (take(use)) return true;
    in_->wait_for_unread_message({timeout_ms / 1000, static_cast<std::uint32_t>(timeout_ms % 1000) * 1'000'000});
    return take(use);
  }

 private:
  bool take(const use_function& use) {
    SampleInfo info;
    if (in_->take_next_sample(&message_, &info) != ReturnCode_t::RETCODE_OK || !info.valid_data) return false;
    use(message_.in);
    return true;
  }

  DataReader* in_;
  message message_;
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
