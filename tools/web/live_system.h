// The figures of the running system.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "tools/view/broker_poller.h"
#include "tools/web/system_source.h"

namespace orc::web {

class live_system final : public system_source {
 public:
  explicit live_system(std::string broker) : broker_(std::move(broker)) {}

  void open() override;
  void close() noexcept override;
  std::uint64_t refresh() override;
  [[nodiscard]] std::shared_ptr<const std::string> text() const override { return text_; }

 private:
  const std::string broker_;
  std::size_t users_ = 0;
  std::unique_ptr<view::broker_poller> poller_;
  std::shared_ptr<const std::string> text_;
  std::uint64_t number_ = 0;
};

}  // namespace orc::web
