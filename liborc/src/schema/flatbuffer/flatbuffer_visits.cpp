#include "schema/flatbuffer/flatbuffer_visits.h"

#include "schema/flatbuffer/flatbuffer_reader.h"

namespace orc::detail {
namespace {

// Walks as the Verifier does, in the order of the ids in reflection.fbs. Where the bytes end too early it visits
// nothing more, and the Verifier stops there too.
class flatbuffer_visits {
 public:
  explicit flatbuffer_visits(std::string_view bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool are_few() noexcept {
    const auto all = flatbuffer_table::root(bytes_);
    each(all, 0, &flatbuffer_visits::object);
    each(all, 1, &flatbuffer_visits::enumeration);
    if (const auto root = all.table(4); root.exists()) object(root);
    each(all, 5, &flatbuffer_visits::service);
    each(all, 7, &flatbuffer_visits::file);
    return few();
  }

 private:
  using visit = void (flatbuffer_visits::*)(const flatbuffer_table&);

  [[nodiscard]] bool few() const noexcept { return count_ <= max_flatbuffer_visits; }
  void add(std::size_t count) noexcept { count_ += count; }

  void each(const flatbuffer_table& in, std::size_t id, visit one) noexcept {
    const auto tables = in.vector(id);
    for (std::size_t i = 0; i < tables.size() && few(); ++i) (this->*one)(tables.table(i));
  }
  void texts(const flatbuffer_table& in, std::size_t id) noexcept { add(in.vector(id).size()); }

  void object(const flatbuffer_table& at) noexcept {
    add(1);
    each(at, 1, &flatbuffer_visits::field);
    texts(at, 5);
    texts(at, 6);
  }
  void field(const flatbuffer_table& at) noexcept {
    add(2);  // and its type
    texts(at, 9);
    texts(at, 10);
  }
  void enumeration(const flatbuffer_table& at) noexcept {
    add(2);  // and its underlying type
    each(at, 1, &flatbuffer_visits::value);
    texts(at, 4);
    texts(at, 5);
  }
  void value(const flatbuffer_table& at) noexcept {
    add(2);  // and its type in a union
    texts(at, 4);
    texts(at, 5);
  }
  void service(const flatbuffer_table& at) noexcept {
    add(1);
    each(at, 1, &flatbuffer_visits::call);
    texts(at, 2);
    texts(at, 3);
  }
  void call(const flatbuffer_table& at) noexcept {
    add(1);
    if (const auto request = at.table(1); request.exists()) object(request);
    if (const auto response = at.table(2); response.exists()) object(response);
    texts(at, 3);
    texts(at, 4);
  }
  void file(const flatbuffer_table& at) noexcept {
    add(1);
    texts(at, 1);
  }

  flatbuffer_bytes bytes_;
  std::size_t count_ = 0;
};

}  // namespace

bool has_few_flatbuffer_visits(std::string_view bytes) noexcept { return flatbuffer_visits(bytes).are_few(); }

}  // namespace orc::detail
