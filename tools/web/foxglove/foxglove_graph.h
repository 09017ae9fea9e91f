// Who publishes and who subscribes to what, for Foxglove clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/view/figures.h"
#include "tools/web/feed/system_source.h"
#include "tools/web/session/client_view.h"

namespace orc::web {

struct topic_ends {
  std::vector<std::string> publishers = {};
  std::vector<std::string> subscribers = {};

  bool operator==(const topic_ends&) const = default;
};
using connection_graph = std::map<std::string, topic_ends>;

// A participant is "NAME (PID)"; one that would be the same as another has a part of its id too.
[[nodiscard]] connection_graph graph_of(const view::system_figures& figures);

// Writes what turns the graph `before` into `now`, from the topic `cursor` on, until the text has about `limit` bytes.
// Sets `cursor` to the topic that is next; empty: all is written. Returns an empty text when there is nothing to write.
[[nodiscard]] std::string graph_update_text(const connection_graph& before, const connection_graph& now,
                                            std::string& cursor, std::size_t limit);

// The graph of now, the same one for all clients. Of the network's thread.
class connection_graphs {
 public:
  explicit connection_graphs(system_source& from) : from_(from) {}
  void open() { from_.open(); }
  void close() noexcept { from_.close(); }
  // Null: not known yet.
  [[nodiscard]] std::shared_ptr<const connection_graph> newest();

 private:
  system_source& from_;
  std::shared_ptr<const view::system_figures> figures_;  // that the graph was made from
  std::shared_ptr<const connection_graph> graph_;
};

// The graph of one client.
class foxglove_graph final : public client_view {
 public:
  explicit foxglove_graph(connection_graphs& from) : from_(from) { from_.open(); }
  ~foxglove_graph() override { from_.close(); }
  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return target_ != nullptr; }

 private:
  connection_graphs& from_;
  std::shared_ptr<const connection_graph> sent_ = std::make_shared<const connection_graph>();
  std::shared_ptr<const connection_graph> target_;  // the client gets it in parts; null: it has all of sent_
  std::string cursor_;
  clock::time_point next_ = {};
};

}  // namespace orc::web
