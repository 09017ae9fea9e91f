#include "tools/orc/record/record_trigger.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <vector>

#include "base/files/run_dir.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "record-";
constexpr std::string_view suffix = ".trigger";
constexpr std::chrono::seconds answer_within{60};  // the file may be large and the disk slow
constexpr std::size_t max_answer = 65536;
constexpr char wanted = 'w';  // "write the file"

std::string system_word() { return std::generic_category().message(errno); }

std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

detail::unique_fd new_socket() {
  return detail::unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// In /tmp another user could have made it.
bool is_trusted(const std::string& directory) {
  struct stat about {};
  return ::lstat(directory.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
         (about.st_uid == ::geteuid() || about.st_uid == 0);
}

// Makes the directory for this user alone, unless it is there.
result make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return {errc::system_error, "cannot make " + path + ": " + system_word()};
  if (!is_trusted(path))
    return {errc::no_permission, path + " belongs to another user: set XDG_RUNTIME_DIR to a directory of your own"};
  return {};
}

// No process listens there any more. A recorder that is only busy refuses in another way.
bool is_left_over(const std::string& path) {
  const auto address = address_of(path);
  const detail::unique_fd socket = new_socket();
  return address && socket &&
         ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 &&
         errno == ECONNREFUSED;
}

struct found_recorder {
  std::string name;
  std::string path;
};

// "record-NAME-PID.trigger"
std::vector<found_recorder> recorders() {
  std::vector<found_recorder> found;
  if (!is_trusted(detail::default_broker_dir())) return found;
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator(detail::default_broker_dir(), ignored)) {
    std::string name = each.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
    name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    const auto dash = name.rfind('-');
    if (dash == std::string::npos) continue;
    found.push_back({name.substr(0, dash), each.path().string()});
  }
  return found;
}

// Those of that name; else those whose file has that name, with its extension.
std::vector<found_recorder> recorders_of(const std::string& name) {
  std::vector<found_recorder> all = recorders();
  if (name.empty()) return all;
  for (const std::string& called : {name, fs::path(name).stem().string()}) {
    std::vector<found_recorder> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const found_recorder& each) { return each.name == called; });
    if (!found.empty()) return found;
  }
  return {};
}

// As the recorder answers: "+TEXT" or "-TEXT". Empty: it has ended.
std::string ask(const std::string& path) {
  const auto address = address_of(path);
  const detail::unique_fd socket = new_socket();
  if (!address || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return {};
  if (::send(socket.get(), &wanted, 1, MSG_NOSIGNAL) != 1) return {};
  std::string text;
  char bytes[4096];
  const auto until = std::chrono::steady_clock::now() + answer_within;
  while (text.size() < max_answer) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return "-the recorder at " + path + " does not answer: it is stopped, or its disk is slow";
    pollfd item{socket.get(), POLLIN, 0};
    if (::poll(&item, 1, static_cast<int>(left.count())) < 0 && errno != EINTR) break;
    const ssize_t n = ::read(socket.get(), bytes, sizeof bytes);
    if (n > 0) text.append(bytes, static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) break;
  }
  return text;
}

}  // namespace

detail::expected<std::unique_ptr<record_trigger>> record_trigger::listen(const std::string& name) {
  const std::string directory = detail::default_broker_dir();
  if (auto made = make_directory(directory); !made) return made.error();
  for (const auto& each : recorders())  // those that were killed
    if (is_left_over(each.path)) ::unlink(each.path.c_str());
  std::string path =
      directory + "/" + std::string(prefix) + name + "-" + std::to_string(::getpid()) + std::string(suffix);
  const auto address = address_of(path);
  if (!address) return error(errc::bad_argument, path + " is too long for a socket: choose a shorter --name");
  detail::unique_fd socket = new_socket();
  ::unlink(path.c_str());
  const mode_t before = ::umask(0177);
  const bool bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0;
  ::umask(before);
  if (!bound || ::listen(socket.get(), 8) != 0)
    return detail::unable("cannot listen at " + path + ": " + system_word());
  return std::unique_ptr<record_trigger>(new record_trigger(std::move(socket), std::move(path)));
}

record_trigger::~record_trigger() { ::unlink(path_.c_str()); }

detail::unique_fd record_trigger::accept() const noexcept {
  return detail::unique_fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

bool asks_for_file(const detail::unique_fd& from) noexcept {
  pollfd item{from.get(), POLLIN, 0};
  char word = 0;
  return ::poll(&item, 1, 100) == 1 && ::read(from.get(), &word, 1) == 1 && word == wanted;
}

void answer_trigger(const detail::unique_fd& to, bool ok, const std::string& text) noexcept {
  const std::string whole = (ok ? "+" : "-") + text;
  [[maybe_unused]] const ssize_t sent = ::send(to.get(), whole.data(), whole.size(), MSG_NOSIGNAL);
}

int trigger_recorders(const std::string& name) {
  console out;
  int code = exit_code::ok;
  std::size_t answered = 0;
  for (const auto& each : recorders_of(name)) {
    const std::string answer = ask(each.path);
    if (answer.empty()) continue;
    ++answered;
    const std::string text = escaped(answer.substr(1));
    if (answer.front() == '+') {
      out.line(text);
    } else {
      out.note(text);
      code = exit_code::failed;
    }
  }
  if (answered != 0) return code;
  out.note(name.empty() ? "no black box is running: start one with orc record --last 60s"
                        : "no black box named '" + escaped(name) + "' is running");
  return exit_code::failed;
}

}  // namespace orc::cli
