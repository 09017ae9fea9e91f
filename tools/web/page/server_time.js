// What time it is at orc-web, or in the recording that it plays, in seconds since 1970.

// A message is never early, so the one that was fastest has the best estimate. It is forgotten slowly, since clocks drift.
const FORGET_PER_SECOND = 0.0002;

let offset = null;  // server's time minus this page's clock
let learned = 0;
let player = null;  // of a recording: {time, at, rate, playing}

const here = () => performance.now() / 1000;

export function seconds(nanoseconds) {
  return Number(nanoseconds) / 1e9;
}

export function learn(now) {
  const found = seconds(now) - here();
  const aged = offset === null ? -Infinity : offset - (here() - learned) * FORGET_PER_SECOND;
  // A step back of the server's clock is no slow message.
  if (found >= aged || aged - found > 5) {
    offset = found;
    learned = here();
  }
}

export function learnPlayer(now, playing, rate) {
  player = {time: seconds(now), at: here(), rate, playing};
}

export function forgetPlayer() {
  player = null;
}

// The right edge of plots.
export function now() {
  if (player !== null) return player.time + (player.playing ? Math.min(here() - player.at, 0.5) * player.rate : 0);
  return offset === null ? Date.now() / 1000 : offset + here();
}
