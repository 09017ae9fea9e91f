#include "broker/map/leases.h"

#include <utility>

namespace orc {
namespace {

bool same_process(const wire::hello& a, const wire::hello& b) {
  return a.host == b.host && a.pid == b.pid && a.start_time == b.start_time;
}

// Takes the same time wherever they differ.
bool same_secret(const wire::id& a, const wire::id& b) { return ((a.hi ^ b.hi) | (a.lo ^ b.lo)) == 0; }

}  // namespace

table::participant* leases::at(routing from) const {
  const auto known = by_route_.find(from);
  return known == by_route_.end() ? nullptr : known->second;
}

table::participant* leases::of(const wire::id& who) const {
  const auto known = participants_.find(who);
  return known == participants_.end() ? nullptr : known->second.get();
}

bool leases::may_move(const table::participant& session, routing from, const peer& by, const wire::hello& who) {
  if (!same_process(session.hello, who)) return false;
  if (session.route == from) return true;
  const bool same_user =
      by.way != peer::via::ipc || session.way != peer::via::ipc || by.uid == session.uid || by.uid == 0;
  return who.secret && same_secret(session.hello.secret, who.secret) && same_user;
}

table::participant& leases::add(std::unique_ptr<table::participant> made, routing from, time now) {
  auto& session = *made;
  session.route = from;
  session.expires = now + lease_;
  std::list<table::participant*> age{&session};
  session.age = age.begin();
  const auto route = by_route_.try_emplace(from, &session).first;
  try {
    participants_.emplace(session.hello.participant, std::move(made));
  } catch (...) {
    by_route_.erase(route);
    throw;
  }
  by_age_.splice(by_age_.end(), age);
  return session;
}

void leases::move(table::participant& session, routing from, const wire::hello& who, time now) {
  auto introduced = who;
  by_route_.try_emplace(from, &session);
  if (session.route && session.route != from) by_route_.erase(*session.route);
  session.route = from;
  session.hello = std::move(introduced);
  renew(session, now);
}

void leases::closed(routing from) noexcept {
  const auto known = by_route_.find(from);
  if (known == by_route_.end()) return;
  known->second->route.reset();
  by_route_.erase(known);
}

void leases::renew(table::participant& session, time now) noexcept {
  session.expires = now + lease_;
  by_age_.splice(by_age_.end(), by_age_, session.age);
}

void leases::renew_all(time now) noexcept {
  for (auto* const each : by_age_) each->expires = now + lease_;
}

std::unique_ptr<table::participant> leases::take(table::participant& session) noexcept {
  if (session.route) by_route_.erase(*session.route);
  session.route.reset();
  by_age_.erase(session.age);
  const auto known = participants_.find(session.hello.participant);
  auto taken = std::move(known->second);
  participants_.erase(known);
  return taken;
}

}  // namespace orc
