// Small plots of a topic's figures over the last minutes.

import uPlot from './uplot/uPlot.esm.js';
import {h, setText} from './dom.js';
import {bandwidth, duration, perSecond, rate} from './text.js';

const KEPT = 600;  // two a second: five minutes
const HEIGHT = 62;
const SHORTEST = 15;  // seconds from left to right

const FIGURES = [
  {name: 'Rate', of: (topic) => topic.rate, text: rate},
  {name: 'Bandwidth', of: (topic) => topic.bandwidth, text: bandwidth},
  {name: 'Age', of: (topic) => topic.age, text: duration},
  {name: 'Missed/s', of: (topic) => topic.missed_rate, text: perSecond},
];

let groups = 0;

// Whole seconds, or minutes: "42 s", "3:05 min".
function span(seconds) {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} min`;
}

class SmallPlot {
  #figure;
  #group;  // charts whose pointers move together
  #times = [];
  #values = [];
  #chart = null;
  #width = 0;

  constructor(figure, group) {
    this.#figure = figure;
    this.#group = group;
    this.value = h('output', {class: 'number'});
    this.box = h('div', {class: 'chart'});
    this.begin = h('span');
    this.element = h('div', {class: 'counter'}, h('div', {class: 'title'}, h('span', {text: figure.name}), this.value), this.box,
      h('div', {class: 'times'}, this.begin, h('span', {text: 'now'})));
    new ResizeObserver(() => this.#resize()).observe(this.box);
  }

  add(time, topic) {
    const value = this.#figure.of(topic);
    const last = this.#times.at(-1) ?? -Infinity;
    if (time < last) this.#times = this.#values = [];  // a recording that went back
    if (time === last) return;
    this.#times = this.#times.concat(time).slice(-KEPT);
    this.#values = this.#values.concat(typeof value === 'number' ? value : null).slice(-KEPT);
    this.#show();
  }

  restyle() {
    this.#make();
  }

  #show() {
    this.#showValue();
    const last = this.#times.at(-1);
    setText(this.begin, `−${span(Math.max(SHORTEST, last - this.#times[0]))}`);
    this.#chart?.setData([this.#times, this.#values]);
  }

  #resize() {
    if (this.box.clientWidth === this.#width) return;
    this.#width = this.box.clientWidth;
    this.#make();
  }

  #make() {
    this.#chart?.destroy();
    this.#chart = null;
    if (this.#width < 40) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.#chart = new uPlot({
      width: this.#width,
      height: HEIGHT,
      padding: [7, 0, 7, 0],
      legend: {show: false},
      cursor: {drag: {x: false, y: false}, y: false, points: {size: 5}, sync: {key: this.#group}},
      scales: {
        x: {time: false, range: (chart, from, to) => [Math.min(from, to - SHORTEST), to]},
        y: {range: (chart, low, high) => [0, high > 0 ? high * 1.1 : 1]},
      },
      axes: [{show: false}, {
        size: 54, gap: 3, font: '10px system-ui, sans-serif', stroke: colour('--dim'), ticks: {show: false},
        grid: {stroke: colour('--line'), width: 1},
        splits: (chart, index, low, high) => [0, high / 1.1],
        values: (chart, splits) => {  // no figures, or all 0: the axis has no upper end
          const largest = Math.max(...this.#values.map((value) => value ?? -1));
          return splits.map((each) => (largest < 0 || (each > 0 && largest === 0) ? '' : this.#figure.text(each)));
        },
      }],
      series: [{}, {stroke: colour('--accent'), fill: colour('--accent-faint'), width: 1.25, points: {show: false}}],
      hooks: {setCursor: [() => this.#showValue()]},
    }, [this.#times, this.#values], this.box);
  }

  #showValue() {
    const pointed = this.#chart?.cursor.idx ?? null;
    const at = pointed ?? this.#values.length - 1;
    const ago = pointed === null ? '' : `  ${span(this.#times.at(-1) - this.#times[at])} ago`;
    setText(this.value, this.#figure.text(this.#values[at]) + ago);
  }
}

export class Counters {
  #group = `counters ${++groups}`;
  #plots = FIGURES.map((figure) => new SmallPlot(figure, this.#group));

  constructor() {
    this.element = h('div', {class: 'counters'}, ...this.#plots.map((each) => each.element));
  }

  add(time, topic) {
    for (const plot of this.#plots) plot.add(time, topic);
  }

  restyle() {
    for (const plot of this.#plots) plot.restyle();
  }
}
