// Says on the local network where this broker is, and hears where others are: wire/beacon.h over IPv4 multicast.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "base/network/ip_address.h"
#include "wire/beacon.h"

namespace orc {

// Not thread-safe. No call blocks.
class beacon_socket {
 public:
  using clock = std::chrono::steady_clock;

  static constexpr std::uint16_t port = 5570;  // UDP
  static constexpr std::string_view group = "239.255.55.70";
  static constexpr std::chrono::milliseconds period{1'000};

  struct network {  // in network order
    std::uint32_t address;
    std::uint32_t mask;
  };
  using networks = std::map<int, std::vector<network>>;  // by interface

  class owner {
   public:
    // A broker of this domain says that it is at `where`, an address of the network that the datagram came in by.
    // Anyone on that network can send this.
    virtual void heard(const detail::ip_port& where, std::uint64_t epoch) noexcept = 0;

   protected:
    ~owner() = default;
  };

  // `tcp_port`: where this broker listens.
  [[nodiscard]] static detail::expected<std::unique_ptr<beacon_socket>> open(std::uint16_t tcp_port,
                                                                             const std::string& domain);
  // Call it before turn(). `epoch`: of this broker's run.
  void begin(std::uint64_t epoch);

  // Readable when turn() has something to do.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  // The next turn() sends: this host's addresses may have changed.
  void hurry() noexcept { due_ = {}; }
  // Receives some datagrams, and sends its own when it is due, over each interface.
  void turn(clock::time_point now, owner& to) noexcept;
  [[nodiscard]] clock::time_point next_deadline() const noexcept { return due_; }

 private:
  beacon_socket(detail::unique_fd socket, wire::beacon own);
  void send();
  [[nodiscard]] bool is_neighbour(std::uint32_t source, int interface) const noexcept;

  detail::unique_fd socket_;
  wire::beacon own_;
  std::string datagram_;
  networks joined_;
  clock::time_point due_{};
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace orc
