// Recordings whose chunks have channels that the index omits: each sample is played as one of its own topic.
#include "tools/orc/play/read_ahead.h"

#include <memory>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/mcap_bytes.h"

using namespace orc;
using orc::detail::temporary_directory;
using test::mcap_bytes;

namespace {

constexpr std::uint16_t known = 1;
constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t chunks = 24;

// A sample's data is the name of its topic, and bytes enough that few fit into a batch.
std::string data_for(const std::string& topic) { return topic + std::string(400'000, ' '); }

std::string hidden(std::uint64_t chunk) { return "hidden/" + std::to_string(chunk); }

// Each chunk, one a second, describes a topic of its own that the index omits. Numbers above 2^15, as any writer may
// choose.
std::string made_file() {
  mcap_bytes file;
  for (std::uint64_t i = 1; i <= chunks; ++i) {
    const auto id = static_cast<std::uint16_t>(65'000 + i);
    file.chunk(mcap_bytes::channel(known, "known") + mcap_bytes::channel(id, hidden(i)) +
                   mcap_bytes::message(known, i * second, data_for("known")) +
                   mcap_bytes::message(id, i * second + 1, data_for(hidden(i))),
               i * second, i * second + 1, {known});
  }
  return file.end(mcap_bytes::channel(known, "known"), {{known, chunks}}, chunks);
}

std::unique_ptr<cli::merged_recording> opened(const temporary_directory& in, const std::string& bytes) {
  test::write_file(in.file("a.mcap"), bytes);
  std::unique_ptr<cli::merged_recording> made;
  const result done = cli::merged_recording::open({in.file("a.mcap")}, made);
  INFO(done.error().message());
  REQUIRE(done);
  return made;
}

std::string topic_in(std::string_view data) { return std::string(data.substr(0, data.find(' '))); }

std::string_view text_of(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

// Takes as the player does. Returns the topics in their order.
class taker {
 public:
  explicit taker(const cli::merged_recording& from) : channels_(from.channels()) {}

  std::vector<std::string> take(cli::read_ahead& from, bool& last) {
    std::vector<std::string> topics;
    const auto batch = from.take();
    REQUIRE(batch);
    channels_.insert(channels_.end(), batch->new_channels.begin(), batch->new_channels.end());
    for (const auto& each : batch->entries) {
      REQUIRE(each.channel < channels_.size());
      topics.push_back(channels_[each.channel].what.topic);
      CHECK(topics.back() == topic_in(text_of(batch->bytes(each))));
    }
    last = batch->last;
    return topics;
  }

 private:
  std::vector<cli::merged_channel> channels_;
};

std::vector<std::string> state_at(cli::merged_recording& from, std::uint64_t at) {
  std::vector<std::string> topics;
  REQUIRE(from.each_last_before(static_cast<std::int64_t>(at), [&](const cli::merged_sample& each) {
    topics.push_back(from.channels()[each.channel].what.topic);
    CHECK(topics.back() == topic_in(text_of(each.what.data)));
  }));
  return topics;
}

std::vector<std::string> rest_of(cli::merged_recording& from) {
  std::vector<std::string> topics;
  cli::merged_sample each;
  for (;;) {
    const result read = from.next(each);
    if (read.code() == errc::nothing_new) return topics;
    if (!read) continue;
    topics.push_back(from.channels()[each.channel].what.topic);
    CHECK(topics.back() == topic_in(text_of(each.what.data)));
  }
}

}  // namespace

TEST_CASE("read ahead: channels that the index omits come before their samples, wherever the player jumps", "[unit]") {
  const temporary_directory in;
  const auto recording = opened(in, made_file());
  taker player(*recording);
  cli::read_ahead ahead(*recording, {.from_ns = second, .to_ns = (chunks + 1) * second});
  bool last = false;
  // Each jump drops what was read ahead.
  for (std::uint64_t jump = 0; jump < chunks; ++jump) {
    player.take(ahead, last);
    player.take(ahead, last);
    ahead.seek(static_cast<std::int64_t>((1 + jump * 7 % (chunks / 2)) * second));
  }
  std::vector<std::string> topics;
  while (!last) topics = player.take(ahead, last);
  CHECK(topics.back() == hidden(chunks));
  CHECK(ahead.problems().empty());
}

TEST_CASE("read ahead: a jump finds the last sample of channels that the index omits", "[unit]") {
  const temporary_directory in;
  const auto recording = opened(in, made_file());
  const auto state = state_at(*recording, 5 * second + 2);
  CHECK(state == std::vector<std::string>{hidden(1), hidden(2), hidden(3), hidden(4), "known", hidden(5)});
  recording->select({{"hidden/7"}, {}});
  REQUIRE(recording->seek(6 * second));
  CHECK(rest_of(*recording) == std::vector<std::string>{hidden(7)});
}

TEST_CASE("read ahead: an index that counts more samples than its channels have is not used", "[unit]") {
  const temporary_directory in;
  mcap_bytes file;
  file.chunk(mcap_bytes::channel(1, "one") + mcap_bytes::channel(2, "two") +
                 mcap_bytes::message(1, second, data_for("one")) + mcap_bytes::message(2, second, data_for("two")),
             second, second, {1});
  const auto recording = opened(in, file.end(mcap_bytes::channel(1, "one"), {{1, 1}}, 2));
  CHECK(recording->channels().size() == 2);
  CHECK(rest_of(*recording) == std::vector<std::string>{"one", "two"});
}

TEST_CASE("read ahead: a channel that only the summary has is played", "[unit]") {
  const temporary_directory in;
  mcap_bytes file;
  file.chunk(mcap_bytes::message(1, second, data_for("one")), second, second, {1});
  const auto recording = opened(in, file.end(mcap_bytes::channel(1, "one"), {{1, 1}}, 1));
  CHECK(rest_of(*recording) == std::vector<std::string>{"one"});
  CHECK(state_at(*recording, 2 * second) == std::vector<std::string>{"one"});
}

TEST_CASE("read ahead: a number that is described anew as another topic is played as neither", "[unit]") {
  const temporary_directory in;
  const bool has_chunks = GENERATE(true, false);
  mcap_bytes file;
  const auto first = mcap_bytes::channel(1, "one") + mcap_bytes::message(1, second, data_for("one"));
  const auto anew = mcap_bytes::channel(1, "two") + mcap_bytes::message(1, 2 * second, data_for("two"));
  const auto other = mcap_bytes::channel(3, "three") + mcap_bytes::message(3, 3 * second, data_for("three"));
  if (has_chunks) {
    file.chunk(first, second, second, {1}).chunk(anew, 2 * second, 2 * second, {1});
    file.chunk(other, 3 * second, 3 * second, {3});
  } else {
    file.add(first + anew + other);
  }
  const auto summary = mcap_bytes::channel(1, "one") + mcap_bytes::channel(3, "three");
  const auto recording = opened(in, file.end(summary, {{1, 2}, {3, 1}}, 3));
  CHECK(rest_of(*recording) == std::vector<std::string>{"one", "three"});
}

TEST_CASE("read ahead: a channel whose schema is not there is played without a type", "[unit]") {
  const temporary_directory in;
  mcap_bytes file;
  file.chunk(mcap_bytes::channel(1, "one", 9) + mcap_bytes::message(1, second, data_for("one")), second, second, {1});
  const auto recording = opened(in, file.end("", {}, 1));
  CHECK(rest_of(*recording) == std::vector<std::string>{"one"});
  CHECK(recording->channels().front().what.type.schema.empty());
}
