// The blocks that are in memory: those used last, within a limit.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>

#include "blocks/block.h"
#include "orc/result.h"

namespace orc::recording::detail {

class block_cache {
 public:
  // At least one block is kept, whatever its size.
  explicit block_cache(std::size_t max_bytes) noexcept : max_bytes_(max_bytes) {}

  using loader = std::function<result(std::size_t which, block_content& to)>;
  // The content of this block, loaded if it is not here. It stays while the caller holds it.
  result get(std::size_t which, const loader& load, std::shared_ptr<const block_content>& found);

 private:
  struct kept {
    std::size_t which = 0;
    std::shared_ptr<block_content> content;
  };
  std::shared_ptr<block_content> make_room();

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::list<kept> blocks_;  // used last first
  std::shared_ptr<block_content> spare_;
};

}  // namespace orc::recording::detail
