// Tables that flatc makes as samples of typed topics. Include it beside orc/typed.h. Needs libflatbuffers-dev.
//
//   flatc --cpp --bfbs-gen-embed robot.fbs     makes robot_generated.h and robot_bfbs_generated.h
//
//   #include "robot_generated.h"
//   #include "robot_bfbs_generated.h"
//   ORC_FLATBUFFERS_SCHEMA(robot::State)       // State is the root_type of robot.fbs
//
//   flatbuffers::FlatBufferBuilder builder;
//   builder.Finish(robot::CreateState(builder, …));
//   state.send(builder);
//   if (auto sample = state.recv(100)) sample->q()->Get(0);
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection_generated.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "orc/result.h"
#include "orc/type_description.h"
#include "orc/typed/aligned_copy.h"
#include "orc/typed/traits.h"
#include "orc/typed/type_name.h"

// Says that the table `Type` is the root of the schema that flatc embedded in TypeBinarySchema. Stands in the global
// namespace, before the first use. Not needed where flatc puts Type::BinarySchema into the class (flatc 22 and later).
#define ORC_FLATBUFFERS_SCHEMA(Type)     \
  template <>                            \
  struct orc::flatbuffers_schema<Type> { \
    using type = Type##BinarySchema;     \
  };

namespace orc {

// The class with the binary schema of a table, with static data() and size(): see ORC_FLATBUFFERS_SCHEMA.
template <class T>
struct flatbuffers_schema {
  // The class; void: not known.
  using type = void;
};
// The same for tables that name the class themselves.
template <class T>
requires requires { typename T::BinarySchema; }
struct flatbuffers_schema<T> {
  // The class that the table names.
  using type = typename T::BinarySchema;
};

// A table that flatc makes for C++.
template <class T>
concept flatbuffers_table = std::is_base_of_v<flatbuffers::Table, T> && !std::is_same_v<flatbuffers::Table, T>;

// Verifies the bytes once, and reads the table where they are, when they are aligned for it: 8 bytes, unless a struct
// in the schema has a force_align above that. Otherwise reads it in a copy. Samples over shm are aligned to 32 bytes.
//
// Over shm the bytes are in memory that the publisher can still write. One that changes them during or after the check
// can crash the reader. Where publishers over shm are not trusted, receive bytes, and read a copy:
//
//   auto bytes = node.request_topic("state", {.type = orc::type_traits<robot::State>::describe()});
//   orc::message sample = bytes.recv(100);
//   orc::flatbuffers_view<robot::State> state;
//   if (sample && state.open_copy(sample.bytes()) == orc::errc::ok) state.get()->q()->Get(0);
template <flatbuffers_table T>
class flatbuffers_view {
 public:
  // Returns ok; type_mismatch when the bytes are no valid T, are 2 GiB or more, nest tables more than 64 deep, or have
  // more tables than one per four bytes, or than 1,000,000; no_memory. A table to which several others refer counts
  // each time. So the time of a sample of n bytes is at most that of n/4 tables, but each of them can have the same
  // vector of n/4 strings. Where publishers are not trusted and such vectors are in the schema, receive bytes, and look
  // at their size first.
  [[nodiscard]] errc open(std::span<const std::byte> bytes) noexcept {
    if (!detail::is_aligned(bytes.data(), type_traits<T>::alignment())) return open_copy(bytes);
    in_place_ = bytes.data();
    return verify(bytes.size());
  }
  // As open(), but always reads a copy, so the publisher cannot change what get() returns.
  [[nodiscard]] errc open_copy(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() >= max_size) return errc::type_mismatch;
    in_place_ = nullptr;
    return copy_.assign(bytes) == nullptr ? errc::no_memory : verify(bytes.size());
  }
  // The table, after open() or open_copy() returned ok.
  [[nodiscard]] const T* get() const noexcept { return flatbuffers::GetRoot<T>(data()); }

 private:
  // The Verifier aborts the program for buffers of this size.
  static constexpr std::size_t max_size = FLATBUFFERS_MAX_BUFFER_SIZE;

  [[nodiscard]] errc verify(std::size_t size) const noexcept {
    if (size >= max_size) return errc::type_mismatch;
    const auto most_tables = static_cast<flatbuffers::uoffset_t>(std::min<std::size_t>(1'000'000, size / 4 + 1));
    flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(data()), size, 64, most_tables);
    return verifier.VerifyBuffer<T>(nullptr) ? errc::ok : errc::type_mismatch;
  }
  [[nodiscard]] const std::byte* data() const noexcept { return in_place_ != nullptr ? in_place_ : copy_.data(); }

  const std::byte* in_place_ = nullptr;
  detail::aligned_copy<256, 32> copy_;
};

// Traits of a table. What is sent is a finished builder, a detached buffer, or the bytes of a finished buffer.
template <flatbuffers_table T>
struct type_traits<T> {
  // How a received sample is read.
  using view = flatbuffers_view<T>;

  // Made at the first call. Throws std::bad_alloc.
  static const type_description& describe() {
    using binary = typename flatbuffers_schema<T>::type;
    static_assert(!std::is_void_v<binary>,
                  "orc/typed/flatbuffers.h: the table has no schema. Run flatc with --bfbs-gen-embed, include the "
                  "…_bfbs_generated.h that it makes, and write ORC_FLATBUFFERS_SCHEMA(your::Table)");
    static const type_description type{
        .name = std::string(type_name<T>()),
        .schema_encoding = "flatbuffer",
        .message_encoding = "flatbuffer",
        .schema = std::string(reinterpret_cast<const char*>(binary::data()), binary::size())};
    return type;
  }
  // bad_argument: the table is not the root_type of its schema.
  static orc::result check() {
    const type_description& type = describe();
    flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(type.schema.data()), type.schema.size());
    if (!reflection::VerifySchemaBuffer(verifier)) {
      return {errc::bad_argument, "the schema of " + type.name + " is no binary schema of flatc"};
    }
    const reflection::Object* const root = reflection::GetSchema(type.schema.data())->root_table();
    if (root != nullptr && root->name()->string_view() == type.name) return {};
    return {errc::bad_argument,
            "the schema of " + type.name + " has " +
                (root == nullptr ? std::string("no root_type") : "the root_type " + root->name()->str()) +
                ": write `root_type " + type.name + ";` into the .fbs file of the table"};
  }
  // What the address of a sample must be a multiple of.
  static std::size_t alignment() noexcept {
    static const std::size_t most = [] {
      std::size_t found = 8;
      const auto* const schema = reflection::GetSchema(flatbuffers_schema<T>::type::data());
      for (const reflection::Object* const each : *schema->objects()) {
        if (each->minalign() > 8) found = std::max(found, static_cast<std::size_t>(each->minalign()));
      }
      return found;
    }();
    return most;
  }
  // The bytes of a finished builder.
  static std::span<const std::byte> bytes_of(const flatbuffers::FlatBufferBuilder& finished) noexcept {
    return std::as_bytes(std::span(finished.GetBufferPointer(), finished.GetSize()));
  }
  // The bytes of a detached buffer.
  static std::span<const std::byte> bytes_of(const flatbuffers::DetachedBuffer& finished) noexcept {
    return std::as_bytes(std::span(finished.data(), finished.size()));
  }
  // The bytes of a finished buffer, as they are.
  static std::span<const std::byte> bytes_of(std::span<const std::byte> finished) noexcept { return finished; }
  // The same for bytes of another type.
  static std::span<const std::byte> bytes_of(std::span<const std::uint8_t> finished) noexcept {
    return std::as_bytes(finished);
  }
};

}  // namespace orc
