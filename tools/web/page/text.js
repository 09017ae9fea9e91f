// Texts of topics and programs, made safe to look at, and figures in a few characters.

// Controls, marks that change the direction of text or are invisible, and halves of surrogate pairs.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;

function escaped(match) {
  if (match === '\n') return '\\n';
  if (match === '\t') return '\\t';
  return `\\u{${match.codePointAt(0).toString(16)}}`;
}

// What a text really holds: characters that would be invisible or would reorder others become "\u{202e}".
// Longer texts are cut.
export function visible(text, limit = 200) {
  const whole = String(text);
  const cut = whole.length > limit ? whole.slice(0, limit) : whole;
  const shown = cut.replace(HIDDEN, escaped);
  return whole.length > limit ? `${shown}… (${whole.length} characters)` : shown;
}

// A host's id is long, and made of the kernel's boot id: eight digits tell hosts apart.
export function hostName(id) {
  const text = String(id ?? '');
  return /^[0-9a-f]{8}-[0-9a-f-]{27}/.test(text) ? text.slice(0, 8) : visible(text, 60);
}

export const UNKNOWN = '–';

function known(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

// Three significant digits, without an exponent for what a robot has.
function digits(value) {
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
}

function scaled(value, units, step = 1000) {
  let at = 0;
  while (Math.abs(value) >= step * 0.9995 && at + 1 < units.length) {
    value /= step;
    at += 1;
  }
  return `${at === 0 && Number.isInteger(value) ? value : digits(value)} ${units[at]}`;
}

export function rate(hz) {
  if (!known(hz)) return UNKNOWN;
  return hz === 0 ? '0 Hz' : scaled(hz, ['Hz', 'kHz', 'MHz']);
}

export function bandwidth(bytes) {
  return known(bytes) ? scaled(bytes, ['B/s', 'kB/s', 'MB/s', 'GB/s']) : UNKNOWN;
}

export function size(bytes) {
  return known(Number(bytes)) ? scaled(Number(bytes), ['B', 'kB', 'MB', 'GB']) : UNKNOWN;
}

export function count(value) {
  if (value === null || value === undefined) return UNKNOWN;
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

// 234144 -> "234 k". For places that are too narrow for all digits.
export function shortCount(value) {
  const number = Number(value ?? NaN);
  if (!known(number)) return UNKNOWN;
  return scaled(number, ['', 'k', 'M', 'G', 'T']).trim();
}

export function perSecond(value) {
  return known(value) ? `${shortCount(value)}/s` : UNKNOWN;
}

// 0.000012 -> "12.0 µs"; 4000 -> "1 h 06 min"
export function duration(seconds) {
  if (!known(seconds)) return UNKNOWN;
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  if (size < 0.9995e-6) return `${digits(seconds * 1e9)} ns`;
  if (size < 0.9995e-3) return `${digits(seconds * 1e6)} µs`;
  if (size < 0.9995) return `${digits(seconds * 1e3)} ms`;
  if (size < 60) return `${digits(seconds)} s`;
  const two = (value) => String(Math.floor(value)).padStart(2, '0');
  if (size < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  if (size < 86400) return `${Math.floor(seconds / 3600)} h ${two((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${two((seconds % 86400) / 3600)} h`;
}

// Local time of day with milliseconds, of decimal nanoseconds since 1970. The date too when it is not today.
export function clock(nanoseconds) {
  const ms = Number(BigInt(nanoseconds) / 1000000n);
  const date = new Date(ms);
  if (!nanoseconds || Number.isNaN(date.getTime())) return UNKNOWN;
  const two = (value, width = 2) => String(value).padStart(width, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${two(date.getMilliseconds(), 3)}`;
  if (date.toDateString() === new Date().toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

// A number of a sample: seven digits, which is what fits, and more where it is large, such as a time.
export function number(value) {
  if (typeof value !== 'number') return visible(value);
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) >= 1e6 && Math.abs(value) < 1e15) return value.toFixed(3);
  return String(Number(value.toPrecision(7)));
}
