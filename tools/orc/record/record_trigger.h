// How `orc record --trigger` reaches the black boxes of this user: a socket for each in the run directory.
#pragma once

#include <memory>
#include <string>

#include "base/expected.h"
#include "base/files/unique_fd.h"

namespace orc::cli {

// The socket at which a black box is triggered.
class record_trigger {
 public:
  // `name` is for --trigger NAME. - system_error, no_permission: no socket can be made there.
  [[nodiscard]] static detail::expected<std::unique_ptr<record_trigger>> listen(const std::string& name);
  ~record_trigger();
  record_trigger(const record_trigger&) = delete;
  record_trigger& operator=(const record_trigger&) = delete;

  // Readable when somebody asks.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  // One who asks; no descriptor: there is no more. Never waits.
  [[nodiscard]] detail::unique_fd accept() const noexcept;

 private:
  record_trigger(detail::unique_fd socket, std::string path) : socket_(std::move(socket)), path_(std::move(path)) {}

  detail::unique_fd socket_;
  std::string path_;
};

// Who looks whether somebody listens says nothing. Waits for the word at most 0.1 s.
[[nodiscard]] bool asks_for_file(const detail::unique_fd& from) noexcept;
// Sends the answer to one who asked. Never waits.
void answer_trigger(const detail::unique_fd& to, bool ok, const std::string& text) noexcept;

// Triggers the black boxes of that name, or of the file of that name, or all; prints their answers. Returns the exit
// code.
[[nodiscard]] int trigger_recorders(const std::string& name);

}  // namespace orc::cli
