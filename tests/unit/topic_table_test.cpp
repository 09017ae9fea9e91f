// Topics by name, while threads look them up and make new ones.
#include "core/participant/topic_table.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/publication/publication.h"
#include "core/subscription/subscription.h"
#include "support/catch.h"

using orc::detail::publication;
using orc::detail::topic_table;
using orc::detail::transport_list;

TEST_CASE("topic table: a name has one entry, which stays", "[unit][threads]") {
  topic_table table;
  CHECK(table.find("a") == nullptr);
  auto& entry = table.find_or_make("a");
  for (int n = 0; n < 2000; ++n) static_cast<void>(table.find_or_make("topic" + std::to_string(n)));
  CHECK(table.find("a") == &entry);
  CHECK(&table.find_or_make("a") == &entry);
  CHECK(table.find("topic1999") != nullptr);
  CHECK(table.find("topic2000") == nullptr);
  std::size_t count = 0;
  table.for_each([&](auto&) { ++count; });
  CHECK(count == 2001);
}

TEST_CASE("topic table: an entry gives back what it held", "[unit][threads]") {
  topic_table table;
  auto& entry = table.find_or_make("t");
  CHECK_FALSE(entry.as_publication());
  const auto first = std::make_shared<publication>("t", orc::topic_options(), std::make_shared<transport_list>());
  CHECK_FALSE(entry.set_sender(first));
  CHECK(entry.as_publication() == first);
  CHECK_FALSE(entry.as_subscription());
  CHECK(entry.set_sender(nullptr) == first);
  CHECK_FALSE(entry.as_publication());
}

TEST_CASE("topic table: threads that make the same names at the same time get the same entries", "[unit][threads]") {
  topic_table table;
  std::vector<std::vector<topic_table::entry*>> found(4);
  std::vector<std::thread> threads;
  for (auto& mine : found) {
    threads.emplace_back([&table, &mine] {
      for (int n = 0; n < 1000; ++n) {
        const auto name = "topic" + std::to_string(n);
        auto& made = table.find_or_make(name);
        if (table.find(name) == &made) mine.push_back(&made);
      }
    });
  }
  for (auto& each : threads) each.join();
  for (const auto& each : found) CHECK(each == found.front());
  CHECK(std::set<topic_table::entry*>(found.front().begin(), found.front().end()).size() == 1000);
}
