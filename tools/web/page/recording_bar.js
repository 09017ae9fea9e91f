// The position in a recording: slider, play and pause, rate.

import {byId, h, setText} from './dom.js';
import {forgetPlayer, learnPlayer} from './server_time.js';
import {clock, visible} from './text.js';

const RATES = [0.1, 0.25, 0.5, 1, 2, 5, 10];
const STEPS = 10000;  // of the slider

function span(nanoseconds) {
  const tenths = Number(nanoseconds / 100000000n);
  const seconds = Math.floor(tenths / 10);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}.${tenths % 10}`;
}

export class RecordingBar {
  #connection;
  #start = 0n;
  #end = 0n;
  #playing = false;
  #held = false;  // the user moves the slider
  #now = 0n;
  #seekTimer = 0;

  constructor(connection) {
    this.#connection = connection;
    this.bar = byId('recording');
    this.slider = byId('recording-slider');
    this.button = byId('recording-play');
    this.rate = byId('recording-rate');
    this.slider.max = String(STEPS);
    for (const rate of RATES) this.rate.append(h('option', {value: rate, text: `× ${rate}`}));
    this.rate.value = '1';
    this.button.addEventListener('click', () => this.toggle());
    this.rate.addEventListener('change', () => connection.command({op: 'rate', value: Number(this.rate.value)}));
    this.slider.addEventListener('input', () => {
      this.#held = true;
      this.#showTime(this.#position());
      // While it is dragged, ten seeks a second are enough.
      this.#seekTimer ||= setTimeout(() => this.#seek(), 100);
    });
    this.slider.addEventListener('change', () => {
      this.#seek();
      this.#held = false;
    });
    connection.addEventListener('time', ({detail}) => this.#time(detail));
  }

  // `hello` of the server; nothing is shown for a live system.
  begin(hello) {
    this.bar.hidden = hello.mode !== 'recording';
    forgetPlayer();
    if (this.bar.hidden) return;
    this.#start = BigInt(hello.start ?? 0);
    this.#end = BigInt(hello.end ?? 0);
    const names = (hello.files ?? []).map((file) => visible(String(file).split('/').at(-1), 60));
    setText(byId('recording-file'), names.join(', '));
    byId('recording-file').title = (hello.files ?? []).map((file) => visible(file, 500)).join('\n');
    this.#time({now: String(hello.now ?? hello.start), playing: false, rate: 1});
  }

  get shown() {
    return !this.bar.hidden;
  }

  toggle() {
    this.#connection.command({op: this.#playing ? 'pause' : 'play'});
  }

  step(seconds) {
    const to = this.#now + BigInt(Math.round(seconds * 1e9));
    this.#connection.command({op: 'seek', time: String(to < this.#start ? this.#start : to > this.#end ? this.#end : to)});
  }

  #position() {
    return this.#start + ((this.#end - this.#start) * BigInt(this.slider.value)) / BigInt(STEPS);
  }

  #seek() {
    clearTimeout(this.#seekTimer);
    this.#seekTimer = 0;
    this.#connection.command({op: 'seek', time: String(this.#position())});
  }

  #time({now, playing, rate}) {
    this.#now = BigInt(now);
    this.#playing = playing;
    learnPlayer(now, playing, rate);
    this.button.textContent = playing ? '❚❚' : '▶';
    this.button.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    if (document.activeElement !== this.rate) this.#showRate(rate);
    if (this.#held) return;
    const length = this.#end - this.#start;
    this.slider.value = length > 0n ? String(((this.#now - this.#start) * BigInt(STEPS)) / length) : '0';
    this.#showTime(this.#now);
  }

  #showRate(rate) {
    if (![...this.rate.options].some((option) => Number(option.value) === rate)) {
      this.rate.append(h('option', {value: rate, text: `× ${rate}`}));
    }
    this.rate.value = String(rate);
  }

  #showTime(time) {
    setText(byId('recording-time'), `${span(time - this.#start)} / ${span(this.#end - this.#start)}   ${clock(String(time))}`);
    this.slider.setAttribute('aria-valuetext', span(time - this.#start));
  }
}
