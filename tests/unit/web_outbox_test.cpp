// Things take turns, and none waits twice.
#include "tools/web/session/outbox.h"

#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace {

using orc::web::frame;
using orc::web::outbox;

class counted_thing final : public orc::web::outgoing {
 public:
  counted_thing(std::string name, int frames) : name_(std::move(name)), left_(frames) {}
  bool take(frame& to) override {
    if (left_ == 0) return false;
    --left_;
    to.head = name_;
    return true;
  }
  [[nodiscard]] bool has_more() const override { return left_ != 0; }

 private:
  const std::string name_;
  int left_;
};

std::vector<std::string> taken_from(outbox& box, std::size_t most) {
  std::vector<std::string> names;
  frame each;
  while (names.size() < most && box.next(each)) names.push_back(each.head);
  return names;
}

}  // namespace

TEST_CASE("web outbox: a busy thing waits behind a rare one", "[web]") {
  outbox box;
  counted_thing busy("busy", 1000);
  counted_thing rare("rare", 1);
  box.add(busy);
  CHECK(taken_from(box, 2) == std::vector<std::string>{"busy", "busy"});
  box.add(rare);
  CHECK(taken_from(box, 3) == std::vector<std::string>{"busy", "rare", "busy"});
}

TEST_CASE("web outbox: a thing has one turn, however often it is added", "[web]") {
  outbox box;
  counted_thing one("one", 1);
  counted_thing two("two", 1);
  for (int i = 0; i < 100; ++i) box.add(one);
  box.add(two);
  CHECK(box.size() == 2);
  CHECK(taken_from(box, 10) == std::vector<std::string>{"one", "two"});
}

TEST_CASE("web outbox: a thing that has nothing, or is forgotten, is passed over", "[web]") {
  outbox box;
  counted_thing nothing("nothing", 0);
  counted_thing closed("closed", 5);
  counted_thing open("open", 1);
  box.add(nothing);
  box.add(closed);
  box.add(open);
  box.forget(closed);
  CHECK(taken_from(box, 10) == std::vector<std::string>{"open"});
  CHECK(box.empty());
}
