// Reads large messages beside the page's own thread, and hands them over in pieces, so that scrolling does not halt.

const PIECE = 400;  // topics

onmessage = ({data}) => {
  const message = JSON.parse(data);
  const topics = message.topics ?? [];
  for (let at = 0; at < topics.length; at += PIECE) postMessage({topics: topics.slice(at, at + PIECE)});
  message.topics = [];
  postMessage({message});
};
