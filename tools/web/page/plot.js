// One plot: fields of topics over time.

import uPlot from './uplot/uPlot.esm.js';
import {h} from './dom.js';
import {LegendEntry} from './plot_legend.js';
import {SeriesBuffer} from './series_buffer.js';
import {now} from './server_time.js';
import {visible} from './text.js';
import {draggedField, dragsField} from './tree_view.js';

const COLOURS = 8;
export const MAX_SERIES = 16;
const RATE_MIN = 30;   // points a second: what the eye sees as motion
const RATE_MAX = 200;
const LEGEND_MS = 100;
const PADDING_RIGHT = 12;
const LABEL_CHARACTER = 6.5;  // pixels
const TIME_STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];

const sameField = (a, b) => a.topic === b.topic && a.path === b.path;

// 16:17:51, with a fraction where the lines of the grid are closer than a second.
function timeLabels(chart, times, axis, space, step) {
  const two = (value) => String(value).padStart(2, '0');
  const width = chart.bbox.width / devicePixelRatio;
  const {min, max} = chart.scales.x;
  const isCut = (time, text) => ((time - min) / (max - min)) * width + (text.length * LABEL_CHARACTER) / 2 > width + PADDING_RIGHT;
  return times.map((time) => {
    const date = new Date(time * 1000);
    const whole = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
    const text = step >= 1 ? whole : `${whole}.${String(date.getMilliseconds()).padStart(3, '0').slice(0, step >= 0.1 ? 1 : 3)}`;
    return isCut(time, text) ? null : text;
  });
}

// Labels of an axis, all with as many decimals as the step between them has.
function axisNumbers(splits) {
  const step = Math.abs(splits[1] - splits[0]) || 1;
  let decimals = 0;
  while (decimals < 9 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6 * step * 10 ** decimals) decimals += 1;
  const plain = step >= 1e-9 && splits.every((each) => Math.abs(each) < 1e9);
  return splits.map((value) => (plain ? value.toFixed(decimals) : String(Number(value.toPrecision(7)))));
}

function paddedRange(plot, low, high) {
  if (low === null || high === null) return [0, 1];
  const span = high - low;
  const pad = span > 0 ? span * 0.06 : Math.abs(high) * 0.1 || 1;
  return [low - pad, high + pad];
}

export class Plot {
  #connection;
  #info;
  #series = [];
  #chart = null;
  #columns = 0;
  #from = 0;
  #to = 1;
  #window;
  #zoom = null;      // {from, to}, or null: follows the time
  #frozen = null;    // copies of the buffers while it does not follow
  #held = false;     // a mouse button is down
  #dirty = true;
  #legendAt = 0;
  #cursorTime = null;
  #drawnNewest = null;
  #width = 0;
  #height = 0;

  constructor(connection, info, window, {onremove, onchange, onactive}) {
    this.#connection = connection;
    this.#info = info;
    this.#window = window;
    this.onchange = onchange;
    this.legend = h('div', {class: 'legend'});
    this.live = h('button', {type: 'button', class: 'small live', text: 'Live', title: 'Follow the time again (Escape)',
      onclick: () => this.follow()});
    const remove = h('button', {type: 'button', class: 'icon', text: '✕', title: 'Remove this plot', 'aria-label': 'Remove this plot',
      onclick: () => onremove(this)});
    this.canvas = h('div', {class: 'chart'});
    this.hint = h('div', {class: 'hint', text: 'Drag a number here, or press + beside one.'});
    this.element = h('section', {class: 'plot', tabindex: '0', 'aria-label': 'Plot'},
      h('header', {}, this.legend, this.live, remove), this.canvas, this.hint);
    this.live.hidden = true;
    this.element.addEventListener('pointerdown', () => onactive(this), true);
    this.element.addEventListener('focus', () => onactive(this));
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.canvas.addEventListener('wheel', (event) => this.#wheel(event), {passive: false});
    this.#acceptDrops(onactive);
    new ResizeObserver(() => this.#resize()).observe(this.canvas);
  }

  get fields() {
    return this.#series.map(({topic, path}) => ({topic, path}));
  }

  // False: it is full.
  add(field) {
    if (this.#series.some((each) => sameField(each, field))) return true;
    if (this.#series.length >= MAX_SERIES) return false;
    const used = new Set(this.#series.map((each) => each.colour));
    let colour = 0;
    while (used.has(colour) && colour + 1 < COLOURS) colour += 1;
    const series = {...field, colour, buffer: new SeriesBuffer(), arrived: [], values: [], shown: true, state: '', problem: ''};
    series.entry = new LegendEntry(series, () => this.#removeSeries(series), () => this.#toggle(series));
    this.legend.append(series.entry.element);
    this.#series.push(series);
    this.#open(series);
    this.#rebuild();
    this.onchange();
    return true;
  }

  remove() {
    for (const series of this.#series) series.handle.close();
    this.#series = [];
    this.#chart?.destroy();
    this.element.remove();
  }

  set window(seconds) {
    this.#window = seconds;
    this.#zoom = null;
    this.#dirty = true;
    this.#askResolution();
  }

  get following() {
    return this.#frozen === null;
  }

  pause() {
    if (this.#frozen !== null) return;
    this.#frozen = new Map(this.#series.map((each) => [each, each.buffer.copy()]));
    this.#dirty = true;
    this.live.hidden = false;
  }

  follow() {
    this.#zoom = null;
    this.#frozen = null;
    this.#dirty = true;
    this.live.hidden = true;
  }

  // Colours come from the style sheet: call after they changed.
  restyle() {
    this.#rebuild();
  }

  // Called once per frame of the screen.
  draw() {
    if (this.#chart === null || this.#width === 0) return;
    if (performance.now() - this.#legendAt > LEGEND_MS) this.#drawLegend();
    if (this.#held || (this.#frozen !== null && !this.#dirty)) return;
    if (this.#zoom !== null) [this.#from, this.#to] = [this.#zoom.from, this.#zoom.to];
    else if (this.#frozen === null) [this.#from, this.#to] = [this.#edge() - this.#window, this.#edge()];
    this.#dirty = false;
    this.#fillColumns();
    this.#chart.setData(this.data, true);
    this.#announce();
  }

  // The right edge: now. Or the newest sample, where a publisher's clock is not ours.
  #edge() {
    const time = now();
    const recent = this.#series.filter((each) => each.arrived.length === 3 && performance.now() - each.arrived[0] < 1500);
    const newest = recent.map((each) => each.buffer.newest).filter((each) => each !== null);
    if (newest.length > 0 && newest.every((each) => Math.abs(each - time) > 1)) return Math.max(...newest);
    return time;
  }

  #fillColumns() {
    const width = (this.#to - this.#from) / this.#columns;
    const from = Math.floor(this.#from / width) * width;  // a fixed grid: peaks do not flicker while it moves
    const times = this.data[0];
    for (let column = 0; column < this.#columns + 1; column += 1) {
      times[column * 2] = from + (column + 0.25) * width;
      times[column * 2 + 1] = from + (column + 0.75) * width;
    }
    for (const series of this.#series) {
      const buffer = this.#frozen?.get(series) ?? series.buffer;
      buffer.columns(from, width, this.#columns + 1, series.values);
    }
  }

  // For tests and measurements: which sample is on the screen now.
  #announce() {
    const newest = Math.max(...this.#series.map((each) => each.buffer.newest ?? -Infinity));
    if (newest === this.#drawnNewest || this.#frozen !== null || newest === -Infinity) return;
    this.#drawnNewest = newest;
    this.element.dispatchEvent(new CustomEvent('orc:drawn', {bubbles: true, detail: {newest}}));
  }

  #open(series) {
    series.handle = this.#connection.open({op: 'plot', topic: series.topic, field: series.path, per_second: this.#perSecond()}, {
      plot: (anew, points) => {
        series.buffer.add(anew, points);
        series.arrived.push(performance.now());
        if (series.arrived.length > 3) series.arrived.shift();
        series.problem = '';
      },
      topic: (message) => {
        series.state = message.state;
        series.problem = message.state === 'up' ? '' : message.message || (message.state === 'gone' ? 'no publisher' : 'waiting');
      },
      error: (message) => { series.problem = message.message; },
    });
  }

  #perSecond() {
    return Math.round(Math.min(RATE_MAX, Math.max(RATE_MIN, (this.#width || 600) / this.#window)));
  }

  #askResolution() {
    const wanted = this.#perSecond();
    for (const series of this.#series) {
      series.handle.change({per_second: wanted});
      series.handle.send({op: 'resolution', per_second: wanted});
    }
  }

  #removeSeries(series) {
    series.handle.close();
    series.entry.remove();
    this.#series = this.#series.filter((each) => each !== series);
    this.#frozen?.delete(series);
    this.#rebuild();
    this.onchange();
  }

  #toggle(series) {
    series.shown = !series.shown;
    this.#chart?.setSeries(this.#series.indexOf(series) + 1, {show: series.shown});
    this.#dirty = true;
    this.#drawLegend();
  }

  // Under the pointer all that is on that pixel, else the newest number that is shown.
  #drawLegend() {
    this.#legendAt = performance.now();
    for (const series of this.#series) {
      const buffer = this.#frozen?.get(series) ?? series.buffer;
      const newest = this.#frozen === null ? Infinity : this.#to;
      const point = this.#cursorTime === null ? buffer.latest(newest) : buffer.at(this.#cursorTime);
      series.entry.show(point, this.#info.of(series.topic, series.path, point?.max));
    }
  }

  // Of the vertical axis: numbers, or the names of an enum.
  #axisNames(splits) {
    const shown = this.#series.filter((each) => each.shown).map((each) => this.#info.of(each.topic, each.path));
    const areNames = shown.length > 0 && shown.every((each) => each.enumerated);
    const named = (value) => shown.map((each) => each.names.get(value)).find((each) => each !== undefined);
    if (areNames) return splits.map((value) => (Number.isInteger(value) ? visible(named(value) ?? String(value), 14) : ''));
    return axisNumbers(splits);
  }

  #rebuild() {
    this.#chart?.destroy();
    this.#chart = null;
    this.hint.hidden = this.#series.length > 0;
    this.element.classList.toggle('no-fields', this.#series.length === 0);
    if (this.#series.length === 0 || this.#width < 50 || this.#height < 40) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = {stroke: colour('--dim'), font: '11px system-ui, sans-serif', ticks: {show: false},
                  grid: {stroke: colour('--line'), width: 1}};
    const names = (chart, splits) => this.#axisNames(splits);
    this.data = [[], ...this.#series.map((each) => each.values)];
    this.#chart = new uPlot({
      width: this.#width,
      height: this.#height,
      pxAlign: 0,
      legend: {show: false},
      cursor: {
        drag: {x: true, y: false, setScale: false, dist: 4},
        sync: {key: 'plots'},
        points: {show: false},
        bind: {
          mousedown: (chart, target, handler) => (event) => { this.#held = event.button === 0; return handler(event); },
          mouseup: (chart, target, handler) => (event) => { this.#held = false; return handler(event); },
          dblclick: () => () => { this.follow(); return null; },
        },
      },
      scales: {x: {time: true, range: () => [this.#from, this.#to]}, y: {range: paddedRange}},
      padding: [8, PADDING_RIGHT, 0, 0],
      axes: [
        {...axis, size: 22, gap: 4, space: 76, incrs: TIME_STEPS, values: timeLabels},
        {...axis, size: (chart, values) => 14 + 7 * Math.max(4, ...(values ?? []).map((each) => each?.length ?? 0)), gap: 4, space: 32, values: names},
      ],
      series: [{}, ...this.#series.map((each) => ({stroke: colour(`--series-${each.colour}`), width: 1.25, points: {show: false},
        show: each.shown}))],
      hooks: {
        setSelect: [(chart) => this.#selected(chart)],
        setCursor: [(chart) => {
          this.#cursorTime = chart.cursor.left >= 0 ? chart.posToVal(chart.cursor.left, 'x') : null;
          this.#drawLegend();
        }],
      },
    }, this.data, this.canvas);
    this.#columns = Math.max(20, Math.round(this.#chart.bbox.width / devicePixelRatio));
    this.#dirty = true;
  }

  #selected(chart) {
    const {left, width} = chart.select;
    this.#held = false;
    if (width < 4) return;
    const [from, to] = [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')];
    chart.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    this.#zoomTo(from, to);
  }

  #zoomTo(from, to) {
    if (to - from < 1e-6) return;
    this.pause();
    this.#zoom = {from, to};
    this.#dirty = true;
  }

  #wheel(event) {
    if (this.#chart === null || event.deltaY === 0) return;
    event.preventDefault();
    const middle = this.#cursorTime ?? (this.#from + this.#to) / 2;
    const factor = event.deltaY < 0 ? 0.8 : 1.25;
    this.#zoomTo(middle - (middle - this.#from) * factor, middle + (this.#to - middle) * factor);
  }

  #key(event) {
    if (event.target !== this.element) return;
    const span = this.#to - this.#from;
    const steps = {ArrowLeft: [-0.2, -0.2], ArrowRight: [0.2, 0.2], '+': [0.2, -0.2], '-': [-0.25, 0.25]};
    if (event.key === 'Escape') this.follow();
    else if (event.key in steps) {
      event.preventDefault();
      const [left, right] = steps[event.key];
      this.#zoomTo(this.#from + left * span, this.#to + right * span);
    }
  }

  #acceptDrops(onactive) {
    this.element.addEventListener('dragover', (event) => {
      if (!dragsField(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
      this.element.classList.add('drop');
    });
    this.element.addEventListener('dragleave', () => this.element.classList.remove('drop'));
    this.element.addEventListener('drop', (event) => {
      event.preventDefault();
      event.stopPropagation();
      this.element.classList.remove('drop');
      const field = draggedField(event);
      if (field === null) return;
      onactive(this);
      this.add(field);
    });
  }

  #resize() {
    const {clientWidth, clientHeight} = this.canvas;
    if (clientWidth === this.#width && clientHeight === this.#height) return;
    const before = this.#perSecond();
    this.#width = clientWidth;
    this.#height = clientHeight;
    this.#rebuild();
    if (Math.abs(this.#perSecond() - before) > before / 4) this.#askResolution();
  }
}
