// The programs that publish a topic: several of a shared one, none when it has no publisher.
export function publishersOf(topic) {
  if ((topic.shared_by ?? []).length > 0) return topic.shared_by;
  return topic.publisher ? [topic.publisher] : [];
}
