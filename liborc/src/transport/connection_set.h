// The connections of a publisher link: accepts newcomers, ends strangers that never say hello, and closes connections
// that left. What their peers say is the link's matter.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files/fd_limit.h"
#include "base/files/unique_fd.h"
#include "transport/acceptor.h"
#include "transport/peer_budget.h"
#include "transport/visit.h"

namespace orc::detail {

// What a link keeps of one connection. The connection owns its socket.
template <typename T>
concept connection = requires(T c, const T& constant) {
  { constant.fd() }
  noexcept->std::same_as<int>;
  { constant.is_stranger() }
  noexcept->std::same_as<bool>;  // it has not said hello
  { constant.is_introduced() }
  noexcept->std::same_as<bool>;  // a stranger that said something: others give way first
  { constant.is_reader() }
  noexcept->std::same_as<bool>;       // it receives samples
  { c.gone } -> std::same_as<bool&>;  // leave() sets it; it is then neither a stranger nor a reader
  { c.budget } -> std::same_as<peer_budget&>;
};

// Not thread-safe, except readers(). No call blocks. `Door`: tests pass their own.
template <connection Reader, typename Door = acceptor>
class connection_set {
 public:
  using list = std::vector<std::unique_ptr<Reader>>;

  explicit connection_set(Door door) : door_(std::move(door)) {}
  connection_set(const connection_set&) = delete;
  connection_set& operator=(const connection_set&) = delete;

  // Readable when there is an event. Constant.
  [[nodiscard]] int fd() const noexcept { return door_.fd(); }
  [[nodiscard]] Door& door() noexcept { return door_; }
  // Oldest first, with those that are gone until close_gone().
  [[nodiscard]] typename list::const_iterator begin() const noexcept { return all_.begin(); }
  [[nodiscard]] typename list::const_iterator end() const noexcept { return all_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  // Number of readers at the last close_gone(). Any thread.
  [[nodiscard]] std::size_t readers() const noexcept { return readers_.load(std::memory_order_relaxed); }

  // Also lets this descriptor make fd() readable. False: the system has no room for it.
  [[nodiscard]] bool wake_with(int descriptor) noexcept { return door_.watch(descriptor, this); }

  // Calls on_event(reader, events) for connections with events, and make(unique_fd) for newcomers, until the visit is
  // over. make() returns the connection, or null to refuse it. Without memory for it (std::bad_alloc), this newcomer
  // is closed, and others wait until the next sweep().
  template <typename OnEvent, typename Make>
  void serve(visit& now, OnEvent on_event, Make make) {
    door_.each_event(
        now,
        [&](void* who, std::uint32_t events) {
          if (who == this) return;
          Reader& of = *static_cast<Reader*>(who);
          if (!of.gone) on_event(of, events);  // else it gave way in this visit
        },
        [&] { accept_some(now, make); });
  }

  // Once a second: ends strangers whose time is over, and calls look(reader, time) for the others.
  template <typename Look>
  void sweep(Look look) {
    const auto now = monotonic::now();
    if (now < next_sweep_) return;
    next_sweep_ = now + std::chrono::seconds(1);
    for (const auto& each : all_) {
      if (each->gone) continue;
      if (each->is_stranger() && each->budget.is_overdue(now))
        leave(*each);
      else
        look(*each, now);
    }
    door_.resume();
  }

  // The connection ends: close_gone() closes it.
  void leave(Reader& r) noexcept { r.gone = changed_ = true; }
  // A connection became a reader, or stopped being one.
  void note_change() noexcept { changed_ = true; }
  // Closes the connections that left, after on_close(reader). False: nothing changed since the last call.
  template <typename OnClose>
  bool close_gone(OnClose on_close) noexcept {
    if (!std::exchange(changed_, false)) return false;
    forget_known();
    std::erase_if(all_, [&](const auto& each) {
      if (!each->gone) return false;
      on_close(*each);
      door_.forget(each->fd());
      return true;
    });
    const auto count = std::count_if(all_.begin(), all_.end(), [](const auto& each) { return each->is_reader(); });
    readers_.store(static_cast<std::size_t>(count), std::memory_order_relaxed);
    return true;
  }

 private:
  template <typename Make>
  void accept_some(visit& now, Make make) noexcept {
    now.heard();
    for (int n = 0; n < visit::max_accepted && !now.over(); ++n) {
      const bool full = strangers_are_full();
      Reader* const leaving = full ? who_gives_way() : nullptr;
      if (full && leaving == nullptr) break;
      unique_fd fd = door_.accept();
      if (!fd) return;
      if (leaving != nullptr) leave(*leaving);
      few_descriptors_left_ = fds_are_scarce(fd.get());
      try {
        if (auto fresh = make(std::move(fd))) add(std::move(fresh));
      } catch (const std::bad_alloc&) {
        return door_.pause();
      }
    }
    now.cut_short();
  }

  void add(std::unique_ptr<Reader> fresh) {
    strangers_.reserve(strangers_.size() + 1);
    all_.push_back(std::move(fresh));
    Reader* const added = all_.back().get();
    if (door_.watch(added->fd(), added))
      strangers_.push_back(added);
    else
      all_.pop_back();
  }

  void forget_known() noexcept {
    std::erase_if(strangers_, [](const Reader* each) { return !each->is_stranger(); });
  }

  [[nodiscard]] bool strangers_are_full() noexcept {
    forget_known();
    return strangers_.size() >=
           (few_descriptors_left_ ? peer_budget::max_strangers_scarce : peer_budget::max_strangers);
  }

  // Returns the oldest stranger, but first one that has not introduced itself. Null: all of them still have time.
  [[nodiscard]] Reader* who_gives_way() const noexcept {
    Reader* oldest = nullptr;
    for (Reader* const each : strangers_) {
      if (oldest == nullptr || (oldest->is_introduced() && !each->is_introduced())) oldest = each;
    }
    if (oldest == nullptr || !oldest->budget.may_be_replaced(monotonic::now(), oldest->is_introduced())) return nullptr;
    return oldest;
  }

  Door door_;
  list all_;
  std::vector<Reader*> strangers_;     // oldest first; some may have said hello or left since
  bool few_descriptors_left_ = false;  // when the last connection came
  bool changed_ = false;
  monotonic::time_point next_sweep_;
  std::atomic<std::size_t> readers_{0};
};

}  // namespace orc::detail
