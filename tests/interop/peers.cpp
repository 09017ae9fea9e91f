#include "interop/peers.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "interop/crc32.h"
#include "support/told_samples.h"

namespace orc::test {

namespace {

std::vector<std::string> command(kind which, const std::string& verb, std::vector<std::string> words,
                                 std::vector<std::string> in_front) {
  switch (which) {
    case kind::orc: in_front.push_back(program("orc_multicast_peer")); break;
    case kind::lcm: in_front.push_back(program("orc_lcm_peer")); break;
    case kind::python:
      in_front.push_back(of_venv("python3"));
      in_front.emplace_back(ORC_LCM_PEER_PY);
      break;
  }
  in_front.push_back(verb);
  for (auto& word : words) in_front.push_back(std::move(word));
  return in_front;
}

std::optional<received> parse(const std::string& text) {
  received r;
  std::istringstream words(text);
  std::string verdict;
  words >> r.channel >> r.size >> std::hex >> r.crc >> std::dec >> r.life >> r.number >> verdict;
  if (!words || (verdict != "right" && verdict != "WRONG")) throw std::runtime_error("a peer says: " + text);
  r.right = verdict == "right";
  return r;
}

}  // namespace

std::string to_string(kind which) { return which == kind::orc ? "ORC" : which == kind::lcm ? "liblcm" : "Python lcm"; }

std::string of_venv(const std::string& name) { return std::string(ORC_LCM_VENV) + "/bin/" + name; }

std::optional<std::string> missing(kind which) {
  if (which != kind::python || std::filesystem::exists(of_venv("python3"))) return std::nullopt;
  return "no lcm for Python in " ORC_LCM_VENV ": tools/dev setup makes it, with access to pypi.org";
}

bool is_told(const received& message, std::size_t size) {
  std::vector<unsigned char> content(size);
  told{message.life, message.number}.write(content.data(), size);
  return message.right && message.size == size && message.crc == crc32(content.data(), size);
}

peer::peer(kind which, const std::string& verb, std::vector<std::string> words, std::vector<std::string> in_front)
    : process_(command(which, verb, std::move(words), std::move(in_front)), {}, child_process::errors::pass_through) {
  if (verb == "send" || verb == "typed") return;
  if (const auto said = line(); said != "ready") throw std::runtime_error("a peer is not ready: " + said.value_or(""));
}

peer::~peer() {
  if (process_.pid() < 0) return;  // moved from
  try {
    process_.close_input();
    CHECK(process_.wait_for_end() == 0);
  } catch (const std::exception& error) {
    FAIL_CHECK("a peer: " << error.what());
  }
}

std::optional<received> peer::next(std::chrono::milliseconds within) {
  const auto text = line(within);
  return text ? parse(*text) : std::nullopt;
}

std::vector<received> peer::rest(std::chrono::milliseconds quiet_for) {
  std::vector<received> all;
  while (auto one = next(quiet_for)) all.push_back(std::move(*one));
  return all;
}

peer send(kind which, const std::string& url, const std::string& channel, const stream& what,
          std::vector<std::string> in_front) {
  return {which,
          "send",
          {url, channel, std::to_string(what.life), std::to_string(what.size), std::to_string(what.count),
           std::to_string(what.hz)},
          std::move(in_front)};
}

}  // namespace orc::test
