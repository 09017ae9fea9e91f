// Four hosts, each with a broker of its own that knows the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "network/lab.h"
#include "support/broker_view.h"
#include "support/private_endpoint.h"

namespace orc::test {

class four_brokers {
 public:
  static constexpr std::size_t count = 4;
  static inline const std::string own_broker = "ipc:///run/user/orc/broker";  // of each host

  explicit four_brokers(lab& hosts) : hosts_(hosts), running_(count) {}

  void boot(std::size_t host) {
    if (running_[host]) return running_[host]->start();
    std::vector<std::string> more = {"--listen", question_endpoint(host), "--host-name", name(host)};
    for (std::size_t each = 0; each < count; ++each)
      more.insert(more.end(), {"--peer", "tcp://" + hosts_[each].address() + ":5570"});
    running_[host] = std::make_unique<lab_broker>(hosts_[host], "tcp://*:5570", std::move(more));
  }
  void boot_all() {
    for (std::size_t host = 0; host < count; ++host) boot(host);
  }
  void kill(std::size_t host) { running_[host]->kill(); }
  [[nodiscard]] const child_process& process(std::size_t host) const { return running_[host]->process(); }
  [[nodiscard]] static std::string name(std::size_t host) { return "host" + std::to_string(host); }

  // What a broker knows, asked for from outside of the hosts, so also while they are cut off.
  [[nodiscard]] wire::topic_state seen(std::size_t by, const std::string& topic) const {
    raw_client client(question_endpoint(by));
    return described(client, topic);
  }
  [[nodiscard]] bool has_schema(std::size_t by, std::uint64_t hash) const {
    raw_client client(question_endpoint(by));
    return std::holds_alternative<wire::schema_part>(client.ask(wire::get_schema{hash, 0}));
  }
  [[nodiscard]] bool knows(std::size_t by, const std::string& topic, std::size_t of) const {
    const auto state = seen(by, topic);
    return state.publication && state.publication->host_name == (by == of ? "" : name(of)) && !state.publication->stale;
  }

 private:
  [[nodiscard]] std::string question_endpoint(std::size_t host) const {
    return "ipc://" + outside_.directory() + "/" + std::to_string(host);
  }

  lab& hosts_;
  private_endpoint outside_;
  std::vector<std::unique_ptr<lab_broker>> running_;
};

}  // namespace orc::test
