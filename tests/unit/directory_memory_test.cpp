// What a watch reports of pages of the broker, also of pages that no honest broker sends.
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/directory/directory_watcher.h"
#include "support/catch.h"

using namespace orc;
using detail::directory_memory;
using kind = directory_change::kind;

namespace {

wire::changes page_with(wire::participant_info participant) {
  wire::changes page;
  page.position = {1, 1, 1};
  page.participants.push_back(std::move(participant));
  return page;
}

// "a 1": one participant on host a.
std::vector<std::string> hosts_after(directory_memory& memory, wire::participant_info participant) {
  std::deque<directory_change> changes;
  memory.take(page_with(std::move(participant)), changes);
  std::vector<std::string> hosts;
  for (const auto& each : changes) {
    if (each.what == kind::host || each.what == kind::host_gone)
      hosts.push_back(each.host.id + " " + std::to_string(each.host.participants));
  }
  return hosts;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("directory memory: a participant that changes its host is counted once", "[unit]") {
  watch_options wanted;
  wanted.hosts = true;
  directory_memory memory(wanted);
  CHECK(hosts_after(memory, {{1, 1}, false, "p", "a", 1, ""}) == texts{"a 1"});
  CHECK(hosts_after(memory, {{1, 1}, false, "p", "b", 1, ""}) == texts{"a 0", "b 1"});
  CHECK(hosts_after(memory, {{1, 1}, true, "p", "b", 1, ""}) == texts{"b 0"});
}
