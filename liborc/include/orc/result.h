// The outcome of a call: true when it succeeded, else the reason.
//
// Results on the hot path (send_msg, recv_msg) carry only a code and never allocate, except for a sample that is too
// large. That result and those of set-up calls also carry a sentence: what was tried, what was found and what to do.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "orc/version.h"

namespace orc {

// Why a call failed, or had nothing to return.
enum class errc : unsigned char {
  ok = 0,  // it worked
  // Not failures:
  nothing_new,  // a poll (timeout 0) found no sample newer than the last one returned
  timed_out,    // the time that the caller allowed has passed
  // Set-up:
  no_broker,       // no address broker answers; the declaration stays and takes effect when one answers
  bad_name,        // not a topic name: 1-255 bytes of [A-Za-z0-9_./-]
  bad_argument,    // an option, a pointer, a size or a timeout is out of range
  name_taken,      // a live publication of another participant holds the topic
  not_registered,  // this participant did not register the topic
  not_requested,   // this participant did not request the topic
  refused,         // the broker or the peer refused
  // System:
  no_memory,       // out of memory
  no_descriptors,  // out of file descriptors
  no_permission,   // the system forbids it
  system_error,    // a system call failed
  closed,          // unregistered, released or ended, also by another thread during the call
  forked,          // made before fork(): the child must make its own participant
  // Receive, over shm:
  too_many_messages,  // the program holds request_options::max_messages messages of this subscription: release one
  // Directory:
  unknown_topic,  // no participant publishes or requested the topic
  unknown_type,   // the broker does not have the schema of this type
  // Types:
  type_mismatch  // the publication's samples have another type than the one that was requested
};

// Returns one plain sentence per code.
[[nodiscard]] ORC_API std::string_view describe(errc code) noexcept;

// An error code with a sentence for people.
class [[nodiscard]] error {
 public:
  // The code alone, or with a sentence that says what was tried, what was found and what to do. Default: errc::ok.
  error() noexcept = default;
  explicit error(errc code) noexcept : code_(code) {}
  error(errc code, std::string detail) : code_(code), detail_(std::make_shared<const std::string>(std::move(detail))) {}

  // errc::ok when there is no error.
  [[nodiscard]] errc code() const noexcept { return code_; }
  // Returns the sentence for people, or describe(code()) when there is none. May allocate.
  [[nodiscard]] std::string message() const { return detail_ ? *detail_ : std::string(describe(code_)); }

 private:
  errc code_ = errc::ok;
  std::shared_ptr<const std::string> detail_;
};

// What a call returns that has no value: success, or an error.
class [[nodiscard]] result {
 public:
  // Success, a code alone, or a code with a sentence for people.
  result() noexcept = default;
  result(errc code) noexcept : error_(code) {}  // NOLINT(google-explicit-constructor): `return errc::closed;`
  result(errc code, std::string detail) : error_(code, std::move(detail)) {}
  result(orc::error error) noexcept : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor): the same

  // True on success.
  explicit operator bool() const noexcept { return error_.code() == errc::ok; }
  // The error; its code is errc::ok on success.
  [[nodiscard]] const orc::error& error() const noexcept { return error_; }
  // Same as error().code().
  [[nodiscard]] errc code() const noexcept { return error_.code(); }

 private:
  orc::error error_;
};

}  // namespace orc
