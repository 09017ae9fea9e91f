// Serves the page and its WebSockets at one address, in the thread that calls run().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/network/ip_address.h"
#include "base/threads/doorbell.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

class web_server {
 public:
  // Listens; port 0 takes a free one. `protocols` outlive the server; the first that a client offers counts. Throws
  // std::system_error when the system has no descriptor left.
  [[nodiscard]] static detail::expected<std::unique_ptr<web_server>> listen(const detail::ip_port& at,
                                                                            std::vector<session_maker*> protocols);
  ~web_server();
  web_server(const web_server&) = delete;
  web_server& operator=(const web_server&) = delete;

  [[nodiscard]] const detail::ip_port& address() const noexcept;
  // What to open in a browser: "http://127.0.0.1:8765/". At 0.0.0.0 or [::] it is this host's name, and localhost.
  [[nodiscard]] std::vector<std::string> urls() const;

  // Serves until `stop_fd` is readable. Looks at the sessions whenever `news` rings.
  void run(int stop_fd, detail::doorbell& news);

 private:
  class engine;
  explicit web_server(std::unique_ptr<engine> made);
  std::unique_ptr<engine> engine_;
};

}  // namespace orc::web
