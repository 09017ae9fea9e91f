// orc_test_typed_peer ENCODING publish|receive TOPIC
//
// publish: sends the sample, says "sent", and keeps the topic until its input ends.
// receive: says the values of the first sample as JSON.
// Broker and transports are those of $ORC_BROKER and $ORC_TRANSPORTS.
#include <array>
#include <iostream>
#include <string>
#include <string_view>

#include "typed_peer/peer.h"

namespace {

using namespace orc::test;

const encoding* find(std::string_view name) {
  for (const auto* each :
       {&struct_encoding, &lcm_encoding, &flatbuffer_encoding, &protobuf_encoding, &cdr_encoding, &json_encoding}) {
    if (each->name == name) return each;
  }
  return nullptr;
}

int failed(const orc::result& why) {
  std::cerr << why.error().message() << '\n';
  return 1;
}

int publish(const encoding& with, const std::string& topic) {
  orc::participant node;
  if (const auto sent = with.publish(node, topic); !sent) return failed(sent);
  std::cout << "sent" << std::endl;
  for (std::string line; std::getline(std::cin, line);) continue;
  return 0;
}

int receive(const encoding& with, const std::string& topic) {
  orc::participant node;
  json values;
  if (const auto received = with.receive(node, topic, values); !received) return failed(received);
  std::cout << values.dump() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc == 4 ? argv[2] : "";
  const encoding* const with = argc == 4 ? find(argv[1]) : nullptr;
  if (with != nullptr && verb == "publish") return publish(*with, argv[3]);
  if (with != nullptr && verb == "receive") return receive(*with, argv[3]);
  std::cerr << "usage: orc_test_typed_peer struct|lcm|flatbuffer|protobuf|cdr|json publish|receive TOPIC\n";
  return 2;
}
