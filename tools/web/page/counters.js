// Small plots of a topic's figures over the last minutes.

import uPlot from './uplot/uPlot.esm.js';
import {h, setText} from './dom.js';
import {bandwidth, duration, rate} from './text.js';

const KEPT = 600;  // two a second: five minutes
const HEIGHT = 54;

const FIGURES = [
  {name: 'Rate', of: (topic) => topic.rate, text: rate},
  {name: 'Bandwidth', of: (topic) => topic.bandwidth, text: bandwidth},
  {name: 'Age', of: (topic) => topic.age, text: duration},
  {name: 'Missed', of: (topic) => topic.missed_rate, text: rate},
];

class SmallPlot {
  #figure;
  #times = [];
  #values = [];
  #chart = null;
  #width = 0;

  constructor(figure) {
    this.#figure = figure;
    this.value = h('output', {class: 'number'});
    this.box = h('div', {class: 'chart'});
    this.element = h('div', {class: 'counter'}, h('div', {class: 'title'}, h('span', {text: figure.name}), this.value), this.box);
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
    this.#chart = new uPlot({
      width: this.#width,
      height: HEIGHT,
      padding: [3, 0, 3, 0],
      legend: {show: false},
      cursor: {drag: {x: false, y: false}, y: false, points: {size: 5}},
      scales: {
        x: {time: false, range: (chart, from, to) => [Math.min(from, to - 15), to]},
        y: {range: (chart, low, high) => [0, high > 0 ? high * 1.1 : 1]},
      },
      axes: [{show: false}, {show: false}],
      series: [{}, {stroke: style.getPropertyValue('--accent').trim(), fill: style.getPropertyValue('--accent-faint').trim(),
                    width: 1.25, points: {show: false}}],
      hooks: {setCursor: [() => this.#showValue()]},
    }, [this.#times, this.#values], this.box);
  }

  #showValue() {
    const under = this.#chart?.cursor.idx ?? this.#values.length - 1;
    setText(this.value, this.#figure.text(this.#values[under]));
  }
}

export class Counters {
  #plots = FIGURES.map((figure) => new SmallPlot(figure));

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
