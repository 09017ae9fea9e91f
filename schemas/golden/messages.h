// The contents of the golden vectors: one message of every kind, with every field set, and some with as little as
// allowed. make_golden writes them, the tests compare with them, manifest.json shows them to other languages.
#pragma once

#include <string>
#include <vector>

#include "wire/control.h"

namespace orc::wire::golden {

struct vector {
  std::string name;  // file: <name>.bin
  envelope message;
};

inline id identity(std::uint64_t n) { return {0x0102030405060700 + n, 0x1112131415161700 + n}; }

inline const std::string host = "6f1d2c3b-4a59-4687-9786-a5b4c3d2e1f0:4026531836";

inline std::vector<endpoint> endpoints() {
  return {{transport::ipc, "ipc:///run/orc/0102030405060701"}, {transport::tcp, "tcp://192.168.1.10:43211"}};
}

inline type_reference type(std::uint32_t schema_size = 1'234) {
  return {"robot.State", "flatbuffer", "flatbuffer", 0x0123456789abcdef, schema_size};
}

inline id secret() { return {0x2122232425262728, 0x3132333435363738}; }

inline publication_counters published() {
  return {identity(2), 1'000'000'000, 5'000, 600'000, 7, 2, 999'000'000, 12'500};
}

inline subscription_counters subscribed() {
  return {identity(3),
          1'000'000'001,
          4'990,
          598'800,
          10,
          1,
          25'000,
          transport::ipc,
          "ipc: inproc is another process",
          3,
          prediction{1'000'000, 4'900, 80, 10, 30'000'000}};
}

inline publication_info publication() {
  return {identity(2), identity(1), "robot_node", host, 4711, endpoints(), type(), published(), 120, false};
}

inline topic_state state() {
  return {"robot/position",
          publication(),
          {{identity(3), identity(4), "controller", host, 4712, subscribed(), 90, 200, type(0)},
           {identity(5), identity(6), "", "", 0, {}, 0}},
          3,
          true};
}

inline std::vector<publication_info> shared() {
  auto first = publication();
  first.counters.reset();
  first.received_ago_ms = 0;
  auto second = first;
  second.publication = identity(7);
  second.participant = identity(8);
  second.participant_name = "watchdog";
  second.type.reset();
  return {first, second};
}

inline std::vector<vector> messages() {
  auto pushed = publication();
  pushed.counters.reset();
  pushed.received_ago_ms = 0;
  auto exported = pushed;
  exported.host_name = "arm";
  exported.stale = true;
  exported.age_ms = 61'000;
  return {
      {"hello", {1, hello{identity(1), "robot_node", host, 4711, 123'456, "liborc 0.1.0", secret()}}},
      {"hello_minimal", {2, hello{identity(1), "", host, 0, 0, ""}}},
      {"register_topic", {3, register_topic{"robot/position", identity(2), endpoints(), type(), false}}},
      {"register_topic_minimal", {4, register_topic{"p", identity(2), {}, {}}}},
      {"register_topic_shared", {3, register_topic{"stop", identity(2), endpoints(), {}, true, true}}},
      {"unregister_topic", {5, unregister_topic{"robot/position", identity(2)}}},
      {"request_topic", {6, request_topic{"robot/position", identity(3), 200, type()}}},
      {"request_topic_minimal", {6, request_topic{"robot/position", identity(3)}}},
      {"release_topic", {7, release_topic{"robot/position", identity(3)}}},
      {"heartbeat", {8, heartbeat{{published()}, {subscribed()}}}},
      {"heartbeat_minimal", {9, heartbeat{}}},
      {"goodbye", {10, goodbye{}}},
      {"alive", {11, alive{}}},
      {"list_topics", {12, list_topics{"robot/a", 100}}},
      {"describe_topic", {13, describe_topic{"robot/position", identity(3)}}},
      {"describe_topic_minimal", {13, describe_topic{"robot/position"}}},
      {"welcome", {1, welcome{0xfedcba9876543210, 3'000, 1'000, true, "orc-broker 0.1.0"}}},
      {"welcome_pushed", {0, welcome{0xfedcba9876543210, 3'000, 1'000, false, ""}}},
      {"ack", {10, ack{}}},
      {"error", {3, error{error_code::name_taken, "topic \"robot/position\" is published by robot_node (pid 4711)"}}},
      {"topic_state", {13, state()}},
      {"topic_state_registered", {3, topic_state{"robot/position", pushed, {}, 2, false, true}}},
      {"topic_state_pushed", {0, topic_state{"robot/position", pushed, {}, 2}}},
      {"topic_state_gone", {0, topic_state{"robot/position", {}, {}, 2}}},
      {"topic_state_shared", {0, topic_state{"stop", {}, {}, 2, false, false, true, shared()}}},
      {"topic_list", {12, topic_list{{state(), {"robot/wanted", {}, {}, 0}}, true, 3, 0xfedcba9876543210, 60'000, 4}}},
      {"probe", {11, probe{}}},
      {"watch", {14, watch{{"robot/*", "**"}, true, {0xfedcba9876543210, 17, 40}, 1'000}}},
      {"watch_minimal", {15, watch{}}},
      {"changes",
       {14,
        changes{{0xfedcba9876543210, 17, 44},
                true,
                true,
                {{"robot/position", pushed, {}, 2}, {"robot/gone", {}, {}, 0}},
                {{identity(1), false, "robot_node", host, 4711, "liborc 0.1.0"}, {identity(4), true, "", "", 0, ""}}}}},
      {"changes_none", {15, changes{{0xfedcba9876543210, 17, 44}, false, false, {}, {}}}},
      {"schema_part", {16, schema_part{0x0123456789abcdef, 32'768, "table State { x:double; }"}}},
      {"get_schema", {17, get_schema{0x0123456789abcdef, 65'536}}},
      {"type_mismatch",
       {18, type_mismatch{"robot/position",
                          identity(3),
                          "field `q` is float32 at publisher `arm (4711)`, float64 here",
                          {},
                          0,
                          identity(2)}}},
      {"type_mismatch_pushed",
       {0, type_mismatch{"robot/position", identity(5), "field `q` is float32 at publisher `arm (4711)`, float64 here",
                         "viewer", 4712, identity(2)}}},
      {"watch_own", {19, watch{{"**"}, false, {0xfedcba9876543210, 17, 44}, 1'000, true}}},
      {"changes_own",
       {19, changes{{0xfedcba9876543210, 17, 45}, false, false, {{"robot/position", exported, {}, 0}}, {}, "arm"}}},
      {"list_peers", {20, list_peers{}}},
      {"peer_list",
       {20, peer_list{"base",
                      3,
                      {{"tcp://arm:5570", "arm", peer_state::up, 200, 640, {}},
                       {"tcp://192.0.2.7:5570", {}, peer_state::connecting, 0, 0, "no answer"}}}}},
  };
}

}  // namespace orc::wire::golden
