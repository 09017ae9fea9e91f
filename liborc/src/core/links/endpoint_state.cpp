#include "core/links/endpoint_state.h"

#include <array>
#include <cstdio>
#include <utility>

#include "base/network/network_error.h"
#include "base/text/printable.h"
#include "wire/multicast_url.h"

namespace orc::detail {

namespace {

// The address and the obstacle contain text of strangers.
constexpr std::size_t max_part_length = 160;

// May cut a character in two, so escape the result.
[[nodiscard]] std::string bounded(std::string_view text) {
  return text.size() <= max_part_length ? std::string(text) : std::string(text.substr(0, max_part_length)) + "...";
}

[[nodiscard]] std::string group_of(const std::string& url) {
  const auto there = wire::multicast_url::parse(url);
  return there ? ip_port{there->group, there->port}.text() : std::string();
}

[[nodiscard]] std::string seconds(monotonic::duration time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", std::chrono::duration<double>(time).count());
  return text.data();
}

[[nodiscard]] std::string silence_text(wire::transport over, const std::string& time, bool reached) {
  if (over == wire::transport::multicast)
    return "no sample or announcement heard for " + time +
           ": a firewall, or a switch that keeps multicast from this host?";
  if (reached) return "connected, no ORC publisher answers for " + time + ": its program is stopped, or another one?";
  return "no answer for " + time + ": " + likely_cause_of_silence;
}

}  // namespace

void endpoint_state::ask(monotonic::time_point now) noexcept {
  if (stands != standing::asked) since = now;
  stands = standing::asked;
}

void endpoint_state::fail(link_end how) noexcept {
  stands = standing::failed;
  end = how;
  obstacle.clear();
}

void endpoint_state::fail(const std::string& why) {
  stands = standing::failed;
  end = {};
  obstacle = why;
}

std::string endpoint_state::text(monotonic::time_point now, bool reached) const {
  const bool has_failed = !obstacle.empty() || end.why != link_end::cause::unknown;
  const auto failure = [this] { return obstacle.empty() ? end_text(end) : escaped(bounded(obstacle)); };
  const auto what = [&]() -> std::string {
    switch (stands) {
      case standing::not_asked_for: return "not asked for";
      case standing::not_offered: return "not offered";
      case standing::untried: return "not tried yet";
      case standing::answered: return "the publication answered";
      case standing::failed: return failure();
      case standing::asked: break;
    }
    if (now - since >= soon) return silence_text(where.transport, seconds(now - since), reached);
    return has_failed ? failure() : "no answer yet";  // a new attempt does not hide the outcome of the last one
  };
  return address_text(where) + ": " + what();
}

std::string endpoint_state::public_text() const {
  const auto what = [this]() -> std::string {
    switch (stands) {
      case standing::not_asked_for: return "not asked for";
      case standing::not_offered: return "not offered";
      case standing::answered: return "the publication answered";
      default: break;
    }
    return where.transport == wire::transport::inproc ? "other process" : "not reachable";
  };
  return std::string(wire::name_of(where.transport)) + ": " + what();
}

std::string address_text(const wire::endpoint& where) {
  std::string address;
  const auto scheme_ends = where.address.find("://");
  if (where.transport == wire::transport::multicast)
    address = group_of(where.address);
  else if (where.transport != wire::transport::inproc && scheme_ends != std::string::npos)
    address = escaped(bounded(where.address.substr(scheme_ends + 3)));
  return std::string(wire::name_of(where.transport)) + (address.empty() ? "" : " " + address);
}

std::string end_text(const link_end& end) {
  switch (end.why) {
    case link_end::cause::network: return why_unreachable(end.error);
    case link_end::cause::closed: return "the other end closed the connection";
    case link_end::cause::no_room: return "the publisher refused: it has no room for more subscribers";
    case link_end::cause::other_publication: return "another publication answered: its program was started anew?";
    case link_end::cause::not_orc: return "another program answers there, not an ORC publisher";
    case link_end::cause::unusable: return "this program cannot map the publisher's memory";
    case link_end::cause::unknown: break;
  }
  return "the connection ended";
}

}  // namespace orc::detail
