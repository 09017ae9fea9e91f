// The services of a system and what they count, asked again and again.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "orc/directory.h"
#include "orc/participant.h"
#include "orc/subscriber.h"
#include "tools/orc/top/program_figures.h"

namespace orc::cli {

// Requests the own topic of each service, of at most 256. One thread.
class service_watch {
 public:
  // Both must outlive the watch.
  service_watch(directory& from, participant& by) noexcept : directory_(from), participant_(by) {}

  // Fills `found` with the services and their newest figures. `all`: also those of ORC itself. Fails as find_services
  // does. Waits for no service. Requests new topics for a fifth of a second at most; the next look goes on.
  [[nodiscard]] result look(bool all, program_figures& found);
  // Whether the last look left topics to be requested.
  [[nodiscard]] bool is_unfinished() const noexcept { return unfinished_; }

 private:
  struct followed {
    std::string server = {};  // participant_state::id
    subscriber from = {};
    std::optional<service_figures> figures = {};
  };

  void release_gone(const program_figures& found);

  directory& directory_;
  participant& participant_;
  std::map<std::string, followed> followed_;  // by the service's name
  bool unfinished_ = false;
};

}  // namespace orc::cli
