// A broker that answers nothing and sends without end: calls keep their time, and a participant can end.
#include <atomic>
#include <chrono>
#include <thread>

#include "orc.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/fake_broker.h"

using namespace orc::test;
using namespace std::chrono_literals;
namespace wire = orc::wire;

namespace {

class flooding_broker {
 public:
  flooding_broker() {
    broker_.answer = [this](const wire::envelope& message) -> std::optional<wire::body> {
      if (std::holds_alternative<wire::hello>(message.content)) return broker_.welcome;
      return std::nullopt;
    };
    // One that takes long to read.
    wire::topic_list list;
    for (int n = 0; n < 300; ++n) list.topics.push_back({"topic/" + std::to_string(n), {}, {}, 0});
    flood_ = wire::encode({0, list});
    thread_ = std::thread([this] {
      while (!stop_) {
        broker_.serve();
        if (broker_.has_peer())
          for (int n = 0; n < 100; ++n) broker_.say(flood_);
        else
          std::this_thread::sleep_for(1ms);
      }
    });
  }
  ~flooding_broker() {
    stop_ = true;
    thread_.join();
  }
  [[nodiscard]] const std::string& endpoint() const { return broker_.endpoint(); }

 private:
  fake_broker broker_;
  std::string flood_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

template <class Call>
[[nodiscard]] std::chrono::milliseconds time_of(Call call) {
  const auto before = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - before);
}

}  // namespace

TEST_CASE("flooding broker: a question to the directory ends in time", "[fault][threads]") {
  const flooding_broker broker;
  orc::directory_options options;
  options.broker = broker.endpoint();
  options.broker_timeout = 500ms;
  orc::directory directory(options);
  orc::broker_state found;
  CHECK(time_of([&] { CHECK_FALSE(directory.broker(found)); }) < patience);
  auto watch = directory.watch({});
  orc::directory_change change;
  CHECK(time_of([&] { CHECK_FALSE(watch.next_change(change, 100)); }) < patience);
}

TEST_CASE("flooding broker: set-up calls and the end of a participant keep their time", "[fault][threads]") {
  const flooding_broker broker;
  CHECK(time_of([&] {
          orc::participant participant({.broker = broker.endpoint(), .broker_timeout = 500ms});
          CHECK(participant.register_topic("t").result().code() == orc::errc::no_broker);
        }) < patience);
}
