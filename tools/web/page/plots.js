// All plots: a toolbar above them, and what draws them with the screen's frames.

import {byId, h} from './dom.js';
import {FieldInfo} from './field_info.js';
import {MAX_SERIES, Plot} from './plot.js';
import {draggedField, dragsField} from './tree_view.js';

export const WINDOWS = [5, 10, 30, 60, 120, 300];

export class Plots {
  #connection;
  #info;
  #plots = [];
  #active = null;
  #window = 10;
  #paused = false;

  constructor(connection, onchange) {
    this.#connection = connection;
    this.#info = new FieldInfo(connection);
    this.onchange = onchange;
    this.box = byId('plots');
    const select = byId('plot-window');
    for (const seconds of WINDOWS) {
      select.append(h('option', {value: seconds, text: seconds < 60 ? `${seconds} s` : `${seconds / 60} min`}));
    }
    select.addEventListener('change', () => {
      this.window = Number(select.value);
      this.onchange();
    });
    byId('plot-new').addEventListener('click', () => {
      const plot = this.create();
      this.activate(plot);
      plot.element.scrollIntoView({block: 'nearest'});
    });
    byId('plot-pause').addEventListener('click', () => this.pause(!this.#paused));
    const area = byId('plots-area');
    area.addEventListener('dragover', (event) => {
      if (dragsField(event)) event.preventDefault();
    });
    area.addEventListener('drop', (event) => {  // beside all plots: a new one
      event.preventDefault();
      const field = draggedField(event);
      if (field !== null) this.activate(this.create([field]));
    });
    this.window = this.#window;
    requestAnimationFrame(() => this.#frame());
  }

  get count() {
    return this.#plots.length;
  }

  get window() {
    return this.#window;
  }

  set window(seconds) {
    if (!WINDOWS.includes(seconds)) return;
    this.#window = seconds;
    byId('plot-window').value = String(seconds);
    for (const plot of this.#plots) plot.window = seconds;
  }

  get fields() {
    return this.#plots.map((plot) => plot.fields);
  }

  create(fields = []) {
    const plot = new Plot(this.#connection, this.#info, this.#window, {
      onremove: (each) => this.#remove(each),
      onchange: () => this.onchange(),
      onactive: (each) => this.activate(each),
    });
    this.#plots.push(plot);
    this.box.append(plot.element);
    for (const field of fields) plot.add(field);
    if (this.#paused) plot.pause();
    this.onchange();
    return plot;
  }

  activate(plot) {
    this.#active = plot;
    for (const each of this.#plots) each.element.classList.toggle('active', each === plot && this.#plots.length > 1);
  }

  // Into the plot that was used last, or a new one.
  add(field) {
    const plot = this.#active ?? this.#plots.at(-1) ?? this.create();
    this.activate(plot);
    if (plot.fields.length >= MAX_SERIES || !plot.add(field)) this.activate(this.create([field]));
  }

  pause(paused) {
    this.#paused = paused;
    byId('plot-pause').setAttribute('aria-pressed', String(paused));
    byId('plot-pause').textContent = paused ? 'Resume' : 'Pause';
    for (const plot of this.#plots) {
      if (paused) plot.pause();
      else plot.follow();
    }
  }

  get paused() {
    return this.#paused;
  }

  restyle() {
    for (const plot of this.#plots) plot.restyle();
  }

  #remove(plot) {
    plot.remove();
    this.#plots = this.#plots.filter((each) => each !== plot);
    if (this.#active === plot) this.activate(this.#plots.at(-1) ?? null);
    this.onchange();
  }

  #frame() {
    requestAnimationFrame(() => this.#frame());
    for (const plot of this.#plots) plot.draw();
  }
}
