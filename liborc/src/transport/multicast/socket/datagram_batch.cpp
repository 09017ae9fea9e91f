#include "transport/multicast/socket/datagram_batch.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/clock.h"

namespace orc::detail::multicast {

void sending_batch::add(std::span<const std::byte> payload) noexcept {
  auto& parts = parts_[size_];
  std::size_t n = 0;
  if (!wrapper_.empty()) parts[n++] = {wrapper_.data(), wrapper_.size()};
  parts[n++] = {heads_[size_].bytes.data(), heads_[size_].size};
  if (!payload.empty()) parts[n++] = {const_cast<std::byte*>(payload.data()), payload.size()};
  messages_[size_] = {};
  msghdr& message = messages_[size_].msg_hdr;
  if (to_) {
    message.msg_name = to_->get();
    message.msg_namelen = to_->size();
  }
  message.msg_iov = parts.data();
  message.msg_iovlen = n;
  ++size_;
}

sending_batch::result sending_batch::send(int socket) noexcept {
  result r;
  bool tried = false;
  while (r.done < size_) {
    const int sent =
        size_ == 1 ? (::sendmsg(socket, &messages_[0].msg_hdr, MSG_DONTWAIT) < 0 ? -1 : 1)
                   : ::sendmmsg(socket, messages_.data() + r.done, static_cast<unsigned>(size_ - r.done), MSG_DONTWAIT);
    if (sent >= 0) {
      r.done += static_cast<std::size_t>(sent);
      tried = false;
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return r;
    if (!std::exchange(tried, true)) continue;  // it may be the error of an earlier datagram (ICMP)
    tried = false;
    ++r.lost;  // no way there now, or a firewall: lost, as on a cable
    ++r.done;
  }
  return r;
}

receiving_batch::receiving_batch() : memory_(new std::byte[most * largest]) {
  for (std::size_t i = 0; i < most; ++i) {
    slots_[i].part = {memory_.get() + i * largest, largest};
    msghdr& message = messages_[i].msg_hdr;
    message.msg_name = &slots_[i].from;
    message.msg_iov = &slots_[i].part;
    message.msg_iovlen = 1;
    message.msg_control = slots_[i].control.data();
  }
}

std::size_t receiving_batch::receive(int socket) noexcept {
  // The kernel wrote into those that it filled.
  for (; used_ != 0; --used_) {
    messages_[used_ - 1].msg_hdr.msg_namelen = sizeof slots_[used_ - 1].from;
    messages_[used_ - 1].msg_hdr.msg_controllen = slots_[used_ - 1].control.size();
  }
  int count = 0;
  do count = ::recvmmsg(socket, messages_.data(), most, MSG_DONTWAIT, nullptr);
  while (count < 0 && errno == EINTR);
  refused_ = count < 0 && errno == ECONNREFUSED;
  used_ = count < 0 ? 0 : static_cast<std::size_t>(count);
  return used_;
}

const source& receiving_batch::source_of(const slot& which) noexcept {
  if (std::memcmp(&which.from, &last_from_, sizeof last_from_) != 0) {
    last_from_ = which.from;
    last_source_ = ip_port::of(reinterpret_cast<const sockaddr&>(which.from)).value_or(source{});
  }
  return last_source_;
}

receiving_batch::received receiving_batch::operator[](std::size_t i) noexcept {
  const msghdr& message = messages_[i].msg_hdr;
  received r{{memory_.get() + i * largest, messages_[i].msg_len}, source_of(slots_[i]), 0};
  if ((message.msg_flags & MSG_TRUNC) != 0) r.bytes = {};
  for (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr;
       c = CMSG_NXTHDR(const_cast<msghdr*>(&message), const_cast<cmsghdr*>(c))) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec at{};
    std::memcpy(&at, CMSG_DATA(c), sizeof at);
    r.stamp_ns = static_cast<std::int64_t>(at.tv_sec) * 1'000'000'000 + at.tv_nsec;
  }
  if (r.stamp_ns == 0) r.stamp_ns = realtime_ns();
  return r;
}

}  // namespace orc::detail::multicast
