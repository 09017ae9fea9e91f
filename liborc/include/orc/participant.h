// The participant: a program's session with ORC. The ORC paper calls this class `broker` (Listing 1): see orc/broker.h.
// "Broker" alone means the process orc-broker.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "orc/message.h"
#include "orc/options.h"
#include "orc/publisher.h"
#include "orc/result.h"
#include "orc/subscriber.h"
#include "orc/timeout.h"
#include "orc/version.h"

namespace orc {

namespace detail {
class components;
class participant;
}  // namespace detail

namespace wire {
class name_space;
}  // namespace wire

template <class T>
class typed_publisher;
template <class T>
class typed_subscriber;

// Of services: orc/calls.h.
class call_context;
class service;
struct service_options;
template <class Reply>
class call_future;

// Of parameters: orc/parameters.h.
template <class T>
class parameter;
template <class T>
struct parameter_options;

// A participant. Any thread may make any call; two threads on different topics never share a lock. One housekeeping
// thread per participant keeps the broker informed and the links up. After fork() the child must make its own
// participant: calls on an inherited one return errc::forked, and destroying it is harmless.
//
// Every call that returns a `result`, a handle or a `message` may also return these codes:
// - forked: this process is a child of the one that made the participant;
// - closed: the participant was moved from.
//
// register_topic, request_topic, unregister_topic and release_topic may also return these:
// - bad_argument: an option of the participant, or its environment variable, is wrong: also its namespace;
// - no_descriptors, system_error: the participant could not start its thread or libzmq;
// - no_memory.
//
// Where a call takes the name of a topic, service or parameter, the participant's namespace stands before it
// (participant_options::name_space): see resolve(). The directory, the tools and other participants see full names.
class ORC_API participant {
 public:
  // Does not wait for a broker and does not fail without one. Set-up calls report what went wrong. Throws
  // std::bad_alloc.
  participant();
  explicit participant(participant_options options);
  // Ends the publications and subscriptions, says goodbye to the address broker, and gives slow readers up to 300 ms
  // for the last samples. Takes at most a second.
  ~participant();
  // Participants can be moved, not copied.
  participant(const participant&) = delete;
  participant& operator=(const participant&) = delete;
  participant(participant&&) noexcept;
  participant& operator=(participant&&) noexcept;

  // Declares that this participant publishes `topic` (ORC paper, III.A). Returns the topic's handle, which also has the
  // result of this call. Waits for the broker's answer, at most participant_options::broker_timeout. Calling it
  // again returns the topic's current status: a broker that returns may refuse a topic that was registered without one.
  // Its sends still succeed then, and reach the linked subscribers.
  // - no_broker: no broker answered. The topic stays registered and can be sent to; a broker that answers learns of it.
  //   The handle is true.
  //
  // After each of these the topic is not registered, and the handle is false:
  // - bad_name: `topic` is not a topic name, or is too long with the namespace;
  // - name_taken: a live publication of another participant holds the topic; the message names it;
  // - bad_argument: an option is out of range or contradicts another one, the broker rejects an endpoint, or the
  //   participant uses no broker and the topic does not name multicast;
  // - refused: a table of the broker is full, or the broker speaks another version;
  // - no_permission, no_descriptors, no_memory, system_error: the topic's sockets or memory cannot be made;
  // - closed: another thread unregistered the topic meanwhile.
  //
  // Other options than the first time are a bad_argument too, and then nothing changes.
  [[nodiscard]] orc::publisher register_topic(std::string_view topic, const topic_options& options = {});

  // Asks for the samples of `topic`, which need not be registered yet. Returns the topic's handle, which also has the
  // result of this call. The link comes up when both ends exist. Waits for the broker's answer, at most
  // broker_timeout, and then for the link, at most request_options::connected_within.
  // - no_broker: no broker answered. The request stays.
  // - timed_out: no link came up within connected_within. The request stays; the message says why there is no link.
  // - type_mismatch: the topic's publication has another type than request_options::type. The message names both types
  //   and the first difference. The request stays: the link comes up when a publication with a matching type comes.
  //
  // With connected_within = 0 it also waits until the types are compared, at most 500 ms, if the topic is published.
  //
  // The handle is true after these three. It is false after the others, and the topic is not requested: bad_name,
  // bad_argument, refused and closed as above; without a broker ("none") also no_permission, no_descriptors, no_memory
  // and system_error, when the group cannot be joined. Other options than the first time are a bad_argument too, and
  // then nothing changes.
  [[nodiscard]] orc::subscriber request_topic(std::string_view topic, const request_options& options = {});

  // The same as register_topic, for samples of the C++ type T: include orc/typed.h. Sets options.type to the type's
  // description. Without a description of T it does not compile.
  template <class T>
  [[nodiscard]] typed_publisher<T> register_topic(std::string_view topic, topic_options options = {});
  // The same for request_topic.
  template <class T>
  [[nodiscard]] typed_subscriber<T> request_topic(std::string_view topic, request_options options = {});

  // register_topic for commands, which must not be carried out late: a sample reaches only the subscriptions that are
  // connected when it is sent (keep_last = false), and goes first over the network (priority::control, unless
  // `options.transports` names neither tcp nor multicast). See liborc/doc/guide/commands-and-safety.md.
  // - bad_argument: also priority::bulk.
  [[nodiscard]] orc::publisher register_command(std::string_view topic, const topic_options& options = {});
  // request_topic for commands: a receive returns the newest command, and none that is older than `max_age`.
  // - bad_argument: also a max_age that is not above 0, another one in the options, and conflate = 0, because a queue
  //   of commands is carried out late. For a command that must not be missed see orc/calls.h.
  [[nodiscard]] orc::subscriber request_command(std::string_view topic, std::chrono::nanoseconds max_age,
                                                const request_options& options = {});
  // The same for samples of the C++ type T: include orc/typed.h.
  template <class T>
  [[nodiscard]] typed_publisher<T> register_command(std::string_view topic, topic_options options = {});
  // The same for samples of the C++ type T: include orc/typed.h.
  template <class T>
  [[nodiscard]] typed_subscriber<T> request_command(std::string_view topic, std::chrono::nanoseconds max_age,
                                                    request_options options = {});

  // Same as publisher::send by name. Returns its codes, and not_registered for an unknown topic.
  [[nodiscard]] result send_msg(std::string_view topic, const void* data, std::size_t size) noexcept;
  [[nodiscard]] result send_msg(std::string_view topic, message&& msg) noexcept;
  [[nodiscard]] result send_msg(std::string_view topic, orc::loan&& filled) noexcept;
  // Same as subscriber::recv by name. Returns its codes, and not_requested for an unknown topic.
  [[nodiscard]] message recv_msg(std::string_view topic, std::chrono::nanoseconds timeout) noexcept;
  [[nodiscard]] message recv_msg(std::string_view topic, int timeout_ms) noexcept {
    return recv_msg(topic, detail::timeout_of(timeout_ms));
  }
  // Same as subscriber::recv_next by name. Returns its codes, and not_requested for an unknown topic.
  [[nodiscard]] message recv_next(std::string_view topic, std::chrono::nanoseconds timeout) noexcept;
  [[nodiscard]] message recv_next(std::string_view topic, int timeout_ms) noexcept {
    return recv_next(topic, detail::timeout_of(timeout_ms));
  }
  // Same as publisher::loan by name. Returns false for an unknown topic.
  [[nodiscard]] orc::loan loan(std::string_view topic, std::size_t size) noexcept;

  // Returns the handle of a topic that was registered, else a false handle. Never waits.
  [[nodiscard]] orc::publisher publisher(std::string_view topic) noexcept;
  // Returns the handle of a topic that was requested, else a false handle. Never waits.
  [[nodiscard]] orc::subscriber subscriber(std::string_view topic) noexcept;

  // Withdraws a topic. Its handles then return closed. Gives slow readers up to 300 ms for the last sample. Then waits
  // for the broker's answer, at most broker_timeout and at most a second; after the answer another participant can
  // register the topic. Returns not_registered for an unknown topic.
  result unregister_topic(std::string_view topic);
  // Withdraws a request. Threads that wait on it return closed. Returns not_requested for an unknown topic.
  result release_topic(std::string_view topic);

  // Returns the full name of a topic, service or parameter. In the namespace "robot7" the full name of "pose" is
  // "robot7/pose"; a slash at the beginning leaves the namespace out: that of "/estop" is "estop". Does not check the
  // name. Use it to look for a name in the directory, which knows full names only. Never waits. Throws std::bad_alloc.
  [[nodiscard]] std::string resolve(std::string_view name) const;

  // Returns the endpoint of the broker that answered last, or "none" when the participant uses no broker. Empty when no
  // broker has answered yet, and after fork().
  [[nodiscard]] std::string broker_endpoint() const;

  // Services: include orc/calls.h, which has the contract (liborc/doc/guide/services.md).
  [[nodiscard]] service serve(std::string_view name,
                              std::function<std::vector<std::byte>(std::span<const std::byte>, call_context&)> handler);
  [[nodiscard]] service serve(std::string_view name,
                              std::function<std::vector<std::byte>(std::span<const std::byte>, call_context&)> handler,
                              const service_options& options);
  template <class Request, class Reply, class Handler>
  [[nodiscard]] service serve(std::string_view name, Handler handler);
  template <class Request, class Reply, class Handler>
  [[nodiscard]] service serve(std::string_view name, Handler handler, const service_options& options);
  [[nodiscard]] call_future<std::vector<std::byte>> call(std::string_view name, std::span<const std::byte> request,
                                                         std::chrono::nanoseconds deadline);  // See orc/calls.h.
  template <class Reply, class Request>
  [[nodiscard]] call_future<Reply> call(std::string_view name, const Request& request,
                                        std::chrono::nanoseconds deadline);                        // See orc/calls.h.
  [[nodiscard]] result wait_for_service(std::string_view name, std::chrono::nanoseconds timeout);  // See orc/calls.h.

  // Parameters: include orc/parameters.h, which has the contract (liborc/doc/guide/parameters.md).
  template <class T>
  [[nodiscard]] orc::parameter<T> parameter(std::string_view name, std::type_identity_t<T> initial,
                                            const parameter_options<std::type_identity_t<T>>& options = {});

 private:
  friend class detail::components;
  // Returns forked or closed as above, else ok. Never waits.
  [[nodiscard]] errc usable() const noexcept;
  explicit participant(std::unique_ptr<detail::participant> made) noexcept;
  [[nodiscard]] const wire::name_space& names() const noexcept;

  std::unique_ptr<detail::participant> participant_;
  bool full_names_ = false;  // of a component
};

}  // namespace orc
