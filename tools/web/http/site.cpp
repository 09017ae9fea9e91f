#include "tools/web/http/site.h"

#include <array>
#include <utility>

namespace orc::web {

namespace {

constexpr std::string_view front_page = "index.html";

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> types{
    {{".html", "text/html; charset=utf-8"},
     {".js", "text/javascript; charset=utf-8"},
     {".mjs", "text/javascript; charset=utf-8"},
     {".css", "text/css; charset=utf-8"},
     {".svg", "image/svg+xml"},
     {".png", "image/png"},
     {".ico", "image/x-icon"},
     {".json", "application/json"},
     {".txt", "text/plain; charset=utf-8"}}};

}  // namespace

const site_file* find_file(std::string_view target) noexcept {
  target = target.substr(0, target.find('?'));
  if (!target.starts_with('/')) return nullptr;
  target.remove_prefix(1);
  if (target.empty()) target = front_page;
  for (const site_file& each : site_files())
    if (each.path == target) return &each;
  return nullptr;
}

std::string_view content_type_of(std::string_view path) noexcept {
  for (const auto& [end, type] : types)
    if (path.ends_with(end)) return type;
  return "application/octet-stream";
}

}  // namespace orc::web
