// One end of a ping-pong on liblcm, through its C API: a channel out, a channel in.
#pragma once

#include <lcm/lcm.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/support/ping_pong.h"

namespace orc::bench {

class lcm_handle_t {
 public:
  explicit lcm_handle_t(const std::string& url) : lcm_(::lcm_create(url.c_str())) {
    if (lcm_ == nullptr) throw std::runtime_error("lcm_create cannot use " + url);
  }
  ~lcm_handle_t() { ::lcm_destroy(lcm_); }
  lcm_handle_t(const lcm_handle_t&) = delete;
  lcm_handle_t& operator=(const lcm_handle_t&) = delete;

  [[nodiscard]] lcm_t* get() const noexcept { return lcm_; }
  // `depth`: messages that wait to be handled; liblcm's default is 30.
  void subscribe(const std::string& channel, lcm_msg_handler_t use, void* user, int depth) const {
    auto* const subscription = ::lcm_subscribe(lcm_, channel.c_str(), use, user);
    if (subscription == nullptr) throw std::runtime_error("lcm_subscribe to " + channel + " failed");
    ::lcm_subscription_set_queue_capacity(subscription, depth);
  }
  bool publish(const std::string& channel, const std::byte* data, std::size_t size) const noexcept {
    return ::lcm_publish(lcm_, channel.c_str(), data, static_cast<unsigned>(size)) == 0;
  }

 private:
  lcm_t* lcm_;
};

class lcm_end {
 public:
  // A copy: what liblcm hands out ends with the handler.
  class message {
   public:
    message() noexcept = default;
    explicit message(const std::vector<std::byte>& of) noexcept : of_(&of) {}
    explicit operator bool() const noexcept { return of_ != nullptr; }
    [[nodiscard]] const std::byte* data() const noexcept { return of_->data(); }
    [[nodiscard]] std::size_t size() const noexcept { return of_->size(); }

   private:
    const std::vector<std::byte>* of_ = nullptr;
  };

  lcm_end(const std::string& url, std::string out, std::string in)
      : lcm_(url), out_(std::move(out)), in_(std::move(in)) {
    lcm_.subscribe(in_, &on_message, this, 30);
  }

  bool send(const std::byte* data, std::size_t size) noexcept { return lcm_.publish(out_, data, size); }
  bool send_loaned(const std::byte*, std::size_t, std::size_t) noexcept { return false; }  // there is no such thing
  bool forward(message&& received) noexcept { return send(received.data(), received.size()); }
  message receive(wait_mode) noexcept {
    arrived_ = false;
    while (!arrived_ && !closed_) {
      if (::lcm_handle(lcm_.get()) != 0) return {};
    }
    return closed_ ? message() : message(received_);
  }

  // From any thread: the thread in receive() returns with a false message.
  void close() noexcept {
    closed_ = true;
    lcm_.publish(in_, nullptr, 0);
  }

 private:
  static void on_message(const lcm_recv_buf_t* got, const char*, void* self) {
    auto& end = *static_cast<lcm_end*>(self);
    const auto* const bytes = static_cast<const std::byte*>(got->data);
    end.received_.assign(bytes, bytes + got->data_size);
    end.arrived_ = true;
  }

  lcm_handle_t lcm_;
  const std::string out_;
  const std::string in_;
  std::vector<std::byte> received_;
  bool arrived_ = false;
  std::atomic<bool> closed_{false};
};

}  // namespace orc::bench
