#include "tools/web/feed/decoded_type.h"

#include <utility>

namespace orc::web {

std::shared_ptr<const decoded_type> decoded(const type_description& type) {
  auto made = std::make_shared<decoded_type>();
  made->name = type.name;
  made->encoding = type.message_encoding;
  made->hash = hash_of(type);
  std::unique_ptr<types::decoder> decoder;
  if (const result done = types::decoder::make(type, decoder)) {
    made->decoder = std::move(decoder);
  } else {
    made->problem = done.error().message();
  }
  return made;
}

}  // namespace orc::web
