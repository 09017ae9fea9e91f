// The topics of one participant by name: leads the four calls to their publication or subscription.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/threads/pi_mutex.h"

namespace orc::detail {

class publication;
class subscription;

// Entries are made once per name and live as long as the table. So looking one up takes no lock, and two threads on
// different topics never meet. Any thread.
class topic_table {
 public:
  class entry {
   public:
    explicit entry(std::string_view name) : name_(name) {}
    [[nodiscard]] std::shared_ptr<publication> as_publication() const {
      const std::lock_guard lock(mutex_);
      return sender_;
    }
    [[nodiscard]] std::shared_ptr<subscription> as_subscription() const {
      const std::lock_guard lock(mutex_);
      return receiver_;
    }
    std::shared_ptr<publication> set_sender(std::shared_ptr<publication> sender) {
      const std::lock_guard lock(mutex_);
      sender_.swap(sender);
      return sender;
    }
    std::shared_ptr<subscription> set_receiver(std::shared_ptr<subscription> receiver) {
      const std::lock_guard lock(mutex_);
      receiver_.swap(receiver);
      return receiver;
    }

   private:
    friend class topic_table;
    const std::string name_;
    mutable pi_mutex mutex_;
    std::shared_ptr<publication> sender_;
    std::shared_ptr<subscription> receiver_;
    entry* next_ = nullptr;
  };

  topic_table() = default;
  topic_table(const topic_table&) = delete;
  topic_table& operator=(const topic_table&) = delete;
  ~topic_table() {
    for (auto& first : buckets_) {
      for (const entry* each = first.load(); each != nullptr;) {
        const entry* const next = each->next_;
        delete each;
        each = next;
      }
    }
  }

  [[nodiscard]] entry* find(std::string_view name) const noexcept {
    entry* each = bucket_of(name).load(std::memory_order_acquire);
    while (each != nullptr && each->name_ != name) each = each->next_;
    return each;
  }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& first : buckets_) {
      for (entry* each = first.load(std::memory_order_acquire); each != nullptr; each = each->next_) visit(*each);
    }
  }

  [[nodiscard]] entry& find_or_make(std::string_view name) {
    const std::lock_guard lock(making_);
    if (entry* const found = find(name)) return *found;
    auto made = std::make_unique<entry>(name);
    auto& first = bucket_of(name);
    made->next_ = first.load(std::memory_order_relaxed);
    first.store(made.get(), std::memory_order_release);
    return *made.release();
  }

 private:
  using bucket = std::atomic<entry*>;
  [[nodiscard]] const bucket& bucket_of(std::string_view name) const noexcept {
    return buckets_[std::hash<std::string_view>{}(name) % buckets_.size()];
  }
  [[nodiscard]] bucket& bucket_of(std::string_view name) noexcept {
    return buckets_[std::hash<std::string_view>{}(name) % buckets_.size()];
  }

  std::mutex making_;
  std::array<bucket, 256> buckets_{};
};

}  // namespace orc::detail
