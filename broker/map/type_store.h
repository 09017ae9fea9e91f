// The types that publications and subscriptions declare. Each is kept once, however many use it; its schema too, once a
// participant has sent it and its hash was computed. Pure state: no I/O, no clock, no threads.
//
// The key of a type is the whole reference, not its hash: a participant that claims the hash of another program's type
// with other texts gets an entry of its own, which can never be complete.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "base/expected.h"
#include "base/hash/type_hasher.h"
#include "broker/map/client_table.h"
#include "wire/control.h"

namespace orc {

class type_store {
 public:
  using time = std::chrono::steady_clock::time_point;
  using duration = std::chrono::milliseconds;
  using done = detail::expected<wire::ack, wire::error>;

  // What an entry counts besides its texts and its schema.
  static constexpr std::size_t bytes_per_type = 256;

  class entry {
   public:
    [[nodiscard]] const wire::type_reference& reference() const noexcept { return *reference_; }
    // True: the store has the schema, and the hash is right.
    [[nodiscard]] bool complete() const noexcept { return complete_; }

   private:
    friend class type_store;
    const wire::type_reference* reference_ = nullptr;  // the key of this entry
    std::map<client*, std::size_t> uses_;              // publications and subscriptions, by client
    std::string schema_;
    bool complete_ = false;
  };

  // The types of one participant. Must be empty, with its upload dropped, when it ends before the store does.
  class user {
   public:
    explicit user(client& by) noexcept : by_(&by) {}

   private:
    friend class type_store;
    struct used {
      const entry* type = nullptr;
      std::size_t count = 0;
    };
    // Parts that came in order from the first on.
    struct upload {
      user* by;
      const entry* type;
      std::string bytes;
      detail::type_hasher hash;
      time progress;
    };
    client* by_;
    std::map<std::uint64_t, used> types_;  // by hash
    std::optional<std::list<upload>::iterator> running_;
  };

  // An upload ends when it makes no progress for `patience`.
  explicit type_store(duration patience) noexcept : patience_(patience) {}
  type_store(const type_store&) = delete;
  type_store& operator=(const type_store&) = delete;
  ~type_store() = default;

  // Checks what can be checked without the schema: the texts are printable, and the hash of a type without a schema is
  // right. The error says what is wrong.
  [[nodiscard]] static done check(const wire::type_reference& type);

  // Bytes that claim() would add to all types, and to those of this client.
  struct cost {
    std::size_t total = 0;
    std::size_t of_client = 0;
  };
  [[nodiscard]] cost cost_of(const wire::type_reference& type, const user& by) const;
  // Counts one more publication or subscription with a type that check() accepts. Returns its entry, which stays valid
  // until release(). Refuses a second type with the same hash for one participant. Changes nothing when it throws.
  [[nodiscard]] detail::expected<const entry*, wire::error> claim(const wire::type_reference& type, user& by);
  void release(const entry& type, user& by) noexcept;
  // Whether it claimed a type with this hash, and has not released it.
  [[nodiscard]] static bool uses(std::uint64_t hash, const user& by) noexcept { return by.types_.contains(hash); }

  // Whether add() would keep this part. Ack: the store has the schema already. An error: the part is refused. Nothing:
  // call add(). A part at offset 0 that is not refused ends the upload that the participant began before.
  [[nodiscard]] std::optional<done> look_at(const wire::schema_part& part, user& by);
  // Takes a part for which look_at() returned nothing. After the last one, checks the hash. A participant has one
  // upload at a time, and no other participant can disturb it.
  [[nodiscard]] done add(const wire::schema_part& part, user& by, time now);
  void drop_upload(user& by) noexcept;
  // Ends uploads that make no progress, at most `most`.
  void drop_stalled(time now, std::size_t most) noexcept;

  // A part of the schema of a complete type.
  [[nodiscard]] detail::expected<wire::schema_part, wire::error> read(const wire::get_schema& what) const;

  [[nodiscard]] bool has_schema(std::uint64_t hash) const noexcept { return complete_.contains(hash); }

  [[nodiscard]] std::size_t size() const noexcept { return types_.size(); }
  [[nodiscard]] std::size_t uploads() const noexcept { return uploads_.size(); }
  // Of texts, schemas, and parts of schemas.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct by_hash {
    bool operator()(const wire::type_reference& a, const wire::type_reference& b) const noexcept;
  };
  using table = std::map<wire::type_reference, entry, by_hash>;

  [[nodiscard]] static std::size_t bytes_of(const wire::type_reference& type, bool with_schema) noexcept;
  [[nodiscard]] done complete(user::upload& finished);

  const duration patience_;
  table types_;
  std::map<std::uint64_t, const entry*> complete_;  // by hash
  std::list<user::upload> uploads_;                 // the one longest without progress first
  std::size_t bytes_ = 0;
};

}  // namespace orc
