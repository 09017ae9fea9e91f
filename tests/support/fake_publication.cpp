#include "support/fake_publication.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <stdexcept>

#include "wire/sample_header.h"

namespace orc::test {

std::string sample_frame(std::uint64_t sequence, std::int64_t stamp_ns, const std::string& payload) {
  std::byte header[wire::sample_header::bytes];
  wire::put({sequence, stamp_ns}, header);
  return as_text(std::span(header)) + payload;
}

std::string link_frame(wire::link_kind kind, const wire::id& publication, const wire::id& subscription,
                       std::uint32_t depth) {
  wire::link_message message;
  message.kind = kind;
  message.publication = publication;
  message.subscription = subscription;
  message.depth = depth;
  return as_text(wire::encode(message));
}

fake_publication::fake_publication(const broker_process& broker, const std::string& topic)
    : client_(broker.endpoint()), topic_(topic), home_(broker.directory().file(std::to_string(::geteuid()))) {
  ::mkdir(home_.c_str(), 0700);
  hang_up();
  client_.ask(hello_of_this_process("fake"));
  announce(wire::id::random());
}

void fake_publication::hang_up() {
  router_.reset();
  router_ = std::make_unique<raw_socket>(ZMQ_ROUTER);
  router_->set(ZMQ_ROUTER_MANDATORY, 1);
  router_->bind("ipc://" + home_ + "/fake");
  if (id) (void)link_path();
}

// Where subscribers look for `id`: one socket of several names.
std::string fake_publication::link_path() const {
  std::string path = home_ + "/" + id.hex().substr(0, 16);
  ::unlink(path.c_str());
  if (::link((home_ + "/fake").c_str(), path.c_str()) != 0) throw std::runtime_error("cannot link " + path);
  return path;
}

void fake_publication::announce(const wire::id& publication) {
  id = publication;
  wire::register_topic registration{.topic = topic_, .publication = id, .endpoints = {}, .type = std::nullopt};
  registration.endpoints.push_back({.transport = wire::transport::ipc, .address = "ipc://" + link_path()});
  const auto answer = client_.ask(registration);
  if (const auto* refused = std::get_if<wire::error>(&answer)) throw std::runtime_error(refused->text);
}

std::optional<wire::link_message> fake_publication::await_hello(std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (std::chrono::steady_clock::now() < end) {
    stay_alive();
    auto frames = router_->receive(std::chrono::milliseconds(20));
    if (!frames || frames->size() != 2) continue;
    const auto& text = frames->back();
    const auto message = wire::decode_link_message(std::as_bytes(std::span(text.data(), text.size())));
    if (!message || message->kind != wire::link_kind::hello || message->publication != id) continue;
    peer_.swap(frames->front());
    return message;
  }
  return std::nullopt;
}

bool fake_publication::welcome() {
  const auto hello = await_hello();
  if (!hello) return false;
  subscription = hello->subscription;
  return say(link_frame(wire::link_kind::welcome, id, subscription));
}

}  // namespace orc::test
