#include "tools/web/services/service_follower.h"

#include <utility>

namespace orc::web {

service_follower::service_follower(directory& from, bool all, std::uint32_t& last_id)
    : from_(from), topics_(from, std::string(service_type_name), all), last_id_(last_id) {}

std::shared_ptr<const shown_services> service_follower::refresh(clock::time_point now) {
  topics_.refresh(now);
  if (!topics_.is_due(now)) return nullptr;
  std::map<std::string, followed> found;
  auto shown = std::make_shared<shown_services>();
  for (const auto& [name, publication] : topics_.publications()) {
    if (found.size() == max_services) break;
    const auto at = services_.find(name);
    followed each{.publication = publication};
    if (at != services_.end() && at->second.publication == publication)
      each.shown = at->second.shown;
    else
      each.shown = describe(name, at != services_.end() ? &at->second : nullptr);
    if (!each.shown) continue;
    shown->emplace(name, each.shown);
    found.emplace(name, std::move(each));
  }
  topics_.read(now, found.size());
  services_ = std::move(found);
  return shown;
}

// Null: it cannot be read, or is gone.
std::shared_ptr<const shown_service> service_follower::describe(const std::string& name, const followed* before) {
  auto made = std::make_shared<shown_service>();
  if (!find_service(from_, name, made->about, made->request.type, made->reply.type)) return nullptr;
  made->request.hash = hash_of(made->request.type);
  made->reply.hash = hash_of(made->reply.type);
  made->share = schemas_->take(made->request.type.schema.size() + made->reply.type.schema.size());
  if (!made->share) return nullptr;
  const bool is_same = before != nullptr && before->shown->request.hash == made->request.hash &&
                       before->shown->reply.hash == made->reply.hash;
  made->id = is_same ? before->shown->id : ++last_id_;
  return made;
}

}  // namespace orc::web
