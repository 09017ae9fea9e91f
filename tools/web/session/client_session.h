// What one client is shown, whatever its protocol: the connection below it only moves frames.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tools/web/http/message_allowance.h"
#include "tools/web/session/frame.h"

namespace orc::web {

using clock = std::chrono::steady_clock;

// A thread at a time: the network's.
class client_session {
 public:
  client_session() = default;
  client_session(const client_session&) = delete;
  client_session& operator=(const client_session&) = delete;
  virtual ~client_session() = default;

  // Takes a message. False: the client breaks the protocol, and the connection closes with `why`.
  virtual bool receive(std::string_view message, bool text, std::string& why) = 0;
  // Looks for what is new. Returns when to look again although nothing new has come; time_point::max(): not before.
  virtual clock::time_point refresh(clock::time_point now) = 0;
  // The bytes that a frame should have at most, so that the client has it soon. A session whose frames can be smaller
  // heeds it.
  virtual void limit_frames(std::size_t /*bytes*/) {}
  // Writes the next frame for the client. False: there is nothing to send now.
  virtual bool next(frame& to) = 0;
};

// Makes the sessions of one protocol.
class session_maker {
 public:
  session_maker() = default;
  session_maker(const session_maker&) = delete;
  session_maker& operator=(const session_maker&) = delete;
  virtual ~session_maker() = default;

  // The name of its WebSocket subprotocol.
  [[nodiscard]] virtual std::string_view subprotocol() const = 0;
  // Where its clients connect; empty: anywhere.
  [[nodiscard]] virtual std::string_view path() const = 0;
  // Whether a client with this Origin header may connect, although it is not the page that this server serves.
  [[nodiscard]] virtual bool admits(std::string_view origin) = 0;
  [[nodiscard]] virtual message_limits limits() const { return {}; }
  [[nodiscard]] virtual std::unique_ptr<client_session> make() = 0;
};

}  // namespace orc::web
