// Protobuf messages as samples of typed topics. Include it beside orc/typed.h. Needs libprotobuf-dev; messages of the
// lite runtime have no descriptor and are not supported.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/message.h>

#include <concepts>
#include <cstddef>
#include <limits>
#include <set>
#include <span>
#include <string>

#include "orc/type_description.h"
#include "orc/typed/traits.h"

namespace orc {

// A class that protoc makes for C++.
template <class T>
concept protobuf_message = std::derived_from<T, google::protobuf::Message> && requires {
  { T::descriptor() } -> std::convertible_to<const google::protobuf::Descriptor*>;
};

namespace detail {

// Appends the file after those that it imports, each once.
inline void append_file(google::protobuf::FileDescriptorSet& to, const google::protobuf::FileDescriptor& file,
                        std::set<const google::protobuf::FileDescriptor*>& done) {
  if (!done.insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) append_file(to, *file.dependency(i), done);
  file.CopyTo(to.add_file());
}

}  // namespace detail

// Traits of a Protobuf message. It is serialised straight into loaned memory, and parsed into a T of the received
// message. A message of proto2 without a required field cannot be sent, and is no T when it is received.
template <protobuf_message T>
struct type_traits<T> {
  // Made at the first call. Throws std::bad_alloc.
  static const type_description& describe() {
    static const type_description type{.name = T::descriptor()->full_name(),
                                       .schema_encoding = "protobuf",
                                       .message_encoding = "protobuf",
                                       .schema = schema()};
    return type;
  }
  // Bytes of the serialised message.
  static std::size_t encoded_size(const T& value) { return value.ByteSizeLong(); }
  // False: a required field is missing, or the message is larger than Protobuf allows.
  static bool encode(const T& value, std::span<std::byte> to) {
    return to.size() <= largest && value.IsInitialized() &&
           value.SerializePartialToArray(to.data(), static_cast<int>(to.size()));
  }
  // False: the bytes are no T, or a required field is missing.
  static bool decode(std::span<const std::byte> from, T& value) {
    return from.size() <= largest && value.ParsePartialFromArray(from.data(), static_cast<int>(from.size())) &&
           value.IsInitialized();
  }

 private:
  static constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<int>::max());

  static std::string schema() {
    google::protobuf::FileDescriptorSet files;
    std::set<const google::protobuf::FileDescriptor*> done;
    detail::append_file(files, *T::descriptor()->file(), done);
    return files.SerializeAsString();
  }
};

}  // namespace orc
