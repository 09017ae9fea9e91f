// The files of the page, which the program carries in itself.
#pragma once

#include <span>
#include <string_view>

namespace orc::web {

struct site_file {
  std::string_view path;  // "index.html"
  std::string_view bytes;
};

// Made by embed.cmake from tools/web/page/.
[[nodiscard]] std::span<const site_file> site_files() noexcept;

// Returns the file of a request's target: "/", "/plot.js", without the part from "?" on. Null: there is none.
[[nodiscard]] const site_file* find_file(std::string_view target) noexcept;

// By the end of its name: "text/html; charset=utf-8".
[[nodiscard]] std::string_view content_type_of(std::string_view path) noexcept;

}  // namespace orc::web
