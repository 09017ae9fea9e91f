// The list of topics, participants and hosts, with their figures.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tools/view/figures.h"

namespace orc::web {

// Of the network's thread. No call waits.
class system_source {
 public:
  system_source() = default;
  system_source(const system_source&) = delete;
  system_source& operator=(const system_source&) = delete;
  virtual ~system_source() = default;

  // A client wants the figures, or no longer. While none does, no broker is asked.
  virtual void open() = 0;
  virtual void close() noexcept = 0;
  // Takes what is new. The number changes with the text.
  virtual std::uint64_t refresh() = 0;
  // What the text is made of; null: not known yet, or this is a recording.
  [[nodiscard]] virtual std::shared_ptr<const view::system_figures> figures() const = 0;
  // The page's message "system"; null: not known yet.
  [[nodiscard]] virtual std::shared_ptr<const std::string> text() const = 0;
};

}  // namespace orc::web
