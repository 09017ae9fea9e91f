#include "orc/calls/raw_call.h"

#include "base/process/fork_generation.h"
#include "calls/call_message.h"
#include "calls/client_channel.h"

namespace orc::detail {

namespace {

[[nodiscard]] bool is_forked(const call_state& call) noexcept { return call.generation != fork_generation(); }

}  // namespace

std::span<const std::byte> call_bytes::bytes() const noexcept {
  return message_ ? message_.bytes().subspan(call_header_size) : std::span<const std::byte>(copy_);
}

raw_call::raw_call() noexcept = default;
raw_call::raw_call(std::shared_ptr<call_state> state) noexcept : state_(std::move(state)) {}
raw_call::raw_call(raw_call&& other) noexcept = default;

raw_call& raw_call::operator=(raw_call&& other) noexcept {
  raw_call ended(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

raw_call::~raw_call() {
  if (!state_) return;
  if (is_forked(*state_)) {
    // Its locks and topics belong to the parent: never destroyed here.
    static_cast<void>(new std::shared_ptr<call_state>(std::move(state_)));
    return;
  }
  cancel();
}

bool raw_call::wait(std::chrono::steady_clock::time_point until) {
  return !state_->channel || is_forked(*state_) || state_->channel->wait(*state_, until);
}

int raw_call::fd() {
  if (is_forked(*state_)) return -1;
  if (state_->channel) return state_->channel->fd(*state_);
  return state_->open_event();
}

void raw_call::cancel() noexcept {
  if (state_->channel && !is_forked(*state_)) state_->channel->cancel(*state_);
}

void raw_call::then(std::function<void(call_error, call_bytes)> ended) {
  const auto call = std::move(state_);
  if (is_forked(*call)) {
    ended({.code = call_errc::forked}, {});
    static_cast<void>(new std::shared_ptr<call_state>(call));  // as in the destructor
  } else if (!call->channel) {
    ended(std::move(call->error), {});
  } else {
    call->channel->then(
        call, [ended = std::move(ended)](call_state& of) { ended(std::move(of.error), std::move(of.reply)); });
  }
}

void raw_call::notify(std::function<void()> ended) {
  if (is_forked(*state_) || !state_->channel) return ended();
  state_->channel->then(state_, [ended = std::move(ended)](call_state&) { ended(); });
}

const call_error& raw_call::error() const {
  static const call_error forked{.code = call_errc::forked};
  return is_forked(*state_) ? forked : state_->error;
}

std::span<const std::byte> raw_call::reply() const {
  return is_forked(*state_) ? std::span<const std::byte>() : state_->reply.bytes();
}

std::pair<call_error, call_bytes> raw_call::take() {
  if (is_forked(*state_)) return {call_error{.code = call_errc::forked}, call_bytes()};
  const auto ended = std::move(state_);  // which the destructor need not cancel
  return {std::move(ended->error), std::move(ended->reply)};
}

std::optional<call_bytes> raw_call::take_feedback() {
  if (!state_->channel || is_forked(*state_)) return std::nullopt;
  return state_->channel->take_feedback(*state_);
}

raw_call failed_call(call_error why) {
  count_forks();
  auto call = std::make_shared<call_state>(nullptr, monotonic::now());
  call->done = true;
  call->error = std::move(why);
  return raw_call(std::move(call));
}

}  // namespace orc::detail
