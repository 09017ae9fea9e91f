// Typed topics: samples are C++ values, and ORC checks that both ends mean the same.
//
//   namespace robot {
//   struct State { double q[7]; double dq[7]; };
//   ORC_DESCRIBE(State, q, dq)
//   }
//
//   auto state = participant.register_topic<robot::State>("arm/state");
//   if (!state.send(robot::State{})) …
//
//   auto state = participant.request_topic<robot::State>("arm/state");
//   if (auto sample = state.recv(100)) std::printf("%f\n", sample->q[0]);
//
// Header-only; needs nothing but liborc. This header is enough for structs. Also include orc/typed/lcm.h,
// orc/typed/flatbuffers.h or orc/typed/protobuf.h for types that lcm-gen, flatc and protoc generate, and see
// orc/typed/traits.h for any other type.
#pragma once

#include <chrono>
#include <string_view>
#include <utility>

#include "orc/options.h"
#include "orc/participant.h"
#include "orc/result.h"
#include "orc/typed/describe.h"
#include "orc/typed/struct.h"
#include "orc/typed/traits.h"
#include "orc/typed/typed_loan.h"
#include "orc/typed/typed_message.h"
#include "orc/typed/typed_publisher.h"
#include "orc/typed/typed_subscriber.h"

namespace orc {

namespace detail {

// Sets the type of a topic or request to T's. bad_argument: it has another one, or T's traits object.
template <class T, class Options>
[[nodiscard]] result set_type(Options& options) {
  static_assert(typed<T>,
                "orc/typed.h: T has no description. Give a struct ORC_DESCRIBE in its own namespace, include "
                "orc/typed/lcm.h, flatbuffers.h or protobuf.h for a generated type, or specialise orc::type_traits");
  if constexpr (requires { type_traits<T>::check(); }) {
    if (result checked = type_traits<T>::check(); !checked) return checked;
  }
  const type_description& type = type_traits<T>::describe();
  if (!options.type.empty() && options.type != type) {
    return {errc::bad_argument,
            "the options name the type " + options.type.name + ", and the samples are " + type.name + ": leave it out"};
  }
  options.type = type;
  return {};
}

}  // namespace detail

template <class T>
typed_publisher<T> participant::register_topic(std::string_view topic, topic_options options) {
  if (result typed = detail::set_type<T>(options); !typed)
    return typed_publisher<T>(orc::publisher(nullptr, std::move(typed)));
  return typed_publisher<T>(register_topic(topic, std::as_const(options)));
}

template <class T>
typed_subscriber<T> participant::request_topic(std::string_view topic, request_options options) {
  if (result typed = detail::set_type<T>(options); !typed)
    return typed_subscriber<T>(orc::subscriber(nullptr, std::move(typed)));
  return typed_subscriber<T>(request_topic(topic, std::as_const(options)));
}

template <class T>
typed_publisher<T> participant::register_command(std::string_view topic, topic_options options) {
  if (result typed = detail::set_type<T>(options); !typed)
    return typed_publisher<T>(orc::publisher(nullptr, std::move(typed)));
  return typed_publisher<T>(register_command(topic, std::as_const(options)));
}

template <class T>
typed_subscriber<T> participant::request_command(std::string_view topic, std::chrono::nanoseconds max_age,
                                                 request_options options) {
  if (result typed = detail::set_type<T>(options); !typed)
    return typed_subscriber<T>(orc::subscriber(nullptr, std::move(typed)));
  return typed_subscriber<T>(request_command(topic, max_age, std::as_const(options)));
}

}  // namespace orc
