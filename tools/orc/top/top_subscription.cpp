#include "tools/orc/top/top_subscription.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threads/signals_blocked.h"
#include "orc/participant.h"
#include "tools/orc/sample/sample_tree.h"
#include "tools/orc/text.h"
#include "tools/orc/top/top_options.h"
#include "tools/orc/type/topic_types.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto shown_every = 100ms;
constexpr std::size_t folded_elements = 16;
constexpr int shown_digits = 6;                                // a person reads no more while they change
constexpr std::size_t largest_sample = std::size_t{64} << 20;  // that is copied and decoded
constexpr std::size_t most_text = std::size_t{1} << 20;        // bytes that are shown of a sample
constexpr std::size_t most_bytes = 16'384;                     // of a sample that are shown as hexadecimal digits
constexpr std::size_t row_bytes = 16;

// "00000010  64 65 66 …  |def.|", as hexdump -C writes it.
std::string hex_dump(std::span<const std::byte> sample, std::size_t size) {
  const std::string_view bytes = as_text(sample).substr(0, most_bytes);
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += row_bytes) {
    const std::string_view row = bytes.substr(at, row_bytes);
    std::string digits;
    std::string letters;
    for (std::size_t i = 0; i < row.size(); ++i) {
      digits += hex(row.substr(i, 1)) + (i == 7 ? "  " : " ");
      letters += row[i] >= ' ' && row[i] <= '~' ? row[i] : '.';
    }
    digits.resize(3 * row_bytes + 2, ' ');
    const std::string offset = hex(std::string{static_cast<char>(at >> 8), static_cast<char>(at & 255)});
    text += offset + "  " + digits + '|' + letters + "|\n";
  }
  if (bytes.size() < size) text += "… " + counted(size - bytes.size(), "more byte") + "\n";
  return text;
}

// The start of a text that may be shown.
std::string whole_lines(const std::string& text) {
  const std::size_t end = text.rfind('\n', most_text);
  return end == std::string::npos ? text.substr(0, most_text) + "\n" : text.substr(0, end + 1);
}

}  // namespace

top_subscription::top_subscription(std::string broker) : broker_(std::move(broker)) {
  (void)news_.fd();
  (void)stop_.fd();
  const detail::signals_blocked blocked;  // they are the main thread's
  thread_ = std::thread([this] { run(); });
}

top_subscription::~top_subscription() {
  ends_ = true;
  stop_.ring();
  wake_.ring();
  thread_.join();
}

void top_subscription::open(std::string topic) {
  const std::lock_guard lock(mutex_);
  wanted_ = std::move(topic);
  newest_ = {.topic = wanted_};
  wake_.ring();
}

opened_sample top_subscription::newest() {
  const std::lock_guard lock(mutex_);
  news_.clear();
  return newest_;
}

std::string top_subscription::wanted() {
  const std::lock_guard lock(mutex_);
  return wanted_;
}

void top_subscription::tell(const opened_sample& known) {
  const std::lock_guard lock(mutex_);
  if (known.topic != wanted_) return;
  newest_ = known;
  news_.ring();
}

bool top_subscription::pause(const std::string& topic, clock::time_point until) {
  while (!ends_ && wanted() == topic) {
    wake_.clear();
    const std::uint32_t ticket = wake_.ticket();
    if (ends_ || wanted() != topic) return false;
    const auto left = until - clock::now();
    if (left <= 0ns) return true;
    wake_.wait(ticket, detail::deadline(static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count())));
  }
  return false;
}

void top_subscription::run() {
  while (!ends_) {
    const std::string topic = wanted();
    if (topic.empty())
      static_cast<void>(pause(topic, clock::now() + 1h));
    else
      follow(topic);
  }
}

void top_subscription::follow(const std::string& topic) {
  opened_sample known{.topic = topic};
  participant own(
      {.broker = broker_, .name = "orc top", .name_space = wire::no_name_space, .broker_timeout = broker_patience});
  subscriber from = own.request_topic(topic);
  if (!from) {
    known.link = from.error().message();
    tell(known);
    while (pause(topic, clock::now() + 1h)) {
    }
    return;
  }
  topic_types types(directory({.broker = broker_, .broker_timeout = broker_patience, .stop_fd = stop_.fd()}), topic);
  shape shown = wanted_shape();
  for (;;) {
    const auto began = clock::now();
    look(from, types, known);
    const shape now = wanted_shape();
    if (now != shown && known.received != 0) decode(types, known);
    shown = now;
    tell(known);
    const auto took = clock::now() - began;
    if (!pause(topic, began + std::max<clock::duration>(shown_every, 5 * took))) return;
  }
}

void top_subscription::look(subscriber& from, topic_types& types, opened_sample& known) {
  const message sample = from.recv(0);
  const link_info link = from.link();
  known.link = link.connected ? "" : link.reason;
  if (!sample) return grow_older(known);
  // A publisher that restarted may have another type.
  if (sample.publisher() == 0 && sample.sequence() <= known.sequence) types.look_again();
  take(sample, known);
  decode(types, known);
}

// Copies the bytes: a publisher over shared memory could change them while they are read.
void top_subscription::take(const message& sample, opened_sample& into) {
  ++into.received;
  into.sequence = sample.sequence();
  into.age_ns = taken_age_ns_ = sample.age_ns();
  taken_ = clock::now();
  into.size = sample.size();
  into.skipped += sample.missed();
  const auto kept = sample.bytes().first(sample.size() > largest_sample ? most_bytes : sample.size());
  bytes_.assign(kept.begin(), kept.end());
}

// By the steady clock: the other one may be set.
void top_subscription::grow_older(opened_sample& known) const {
  if (known.received != 0) known.age_ns = taken_age_ns_ + std::chrono::nanoseconds(clock::now() - taken_).count();
}

void top_subscription::decode(topic_types& types, opened_sample& into) const {
  into.text.clear();
  into.has_long = false;
  into.remark.clear();
  const types::decoder* const type = into.size > largest_sample ? nullptr : types.decoder_of(bytes_);
  if (type != nullptr) {
    const shape wanted = wanted_shape();
    tree_text tree;
    const result decoded = sample_tree(
        *type, bytes_,
        {.fold = folded_elements, .whole = !wanted.folded, .digits = shown_digits, .columns = wanted.columns}, tree);
    into.text = std::move(tree.lines);
    into.has_long = tree.has_long;
    if (into.text.size() > most_text) into.text = whole_lines(into.text) + "… more than is shown\n";
    if (decoded) return;
    into.remark = "this is no " + type->type().name + ": " + decoded.error().message();
  } else if (into.size > largest_sample) {
    into.remark = "too large to decode here; its first bytes:";
  } else {
    into.remark = types.why().empty() ? "untyped; its bytes:" : types.why();
  }
  into.text = hex_dump(bytes_, into.size);
}

}  // namespace orc::cli
