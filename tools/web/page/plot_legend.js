// One entry of a plot's legend: colour, name, value. A click on the name hides the line, and shows it again.

import {h, setText, setTitle} from './dom.js';
import {number, visible} from './text.js';

const DIGITS = 5;
const LARGE = 1e5;  // such as a time: its last digits are what changes

// A value of a plotted field, with its name when it is one of an enum.
export function valueText(value, {names}) {
  const text = number(Math.abs(value) < LARGE ? Number(value.toPrecision(DIGITS)) : value);
  return names.has(value) ? `${visible(names.get(value), 40)} (${text})` : text;
}

export class LegendEntry {
  #series;

  // `series`: {topic, path, colour, shown, problem}; `onremove()`, `ontoggle()`.
  constructor(series, onremove, ontoggle) {
    this.#series = series;
    this.label = h('button', {type: 'button', class: 'label', 'aria-pressed': 'true', onclick: ontoggle});
    this.number = h('output', {class: 'number'});
    const remove = h('button', {type: 'button', class: 'icon', text: '✕', title: 'Remove this field',
      'aria-label': `Remove ${visible(series.path, 80)}`, onclick: onremove});
    this.element = h('span', {class: 'chip'}, h('span', {class: `swatch series-${series.colour}`}), this.label, this.number, remove);
  }

  remove() {
    this.element.remove();
  }

  // `point`: {min, max}, or null; `info`: of FieldInfo.
  show(point, info) {
    const {topic, path, problem, shown} = this.#series;
    let text = '–';
    if (point !== null) {
      const [low, high] = [valueText(point.min, info), valueText(point.max, info)];
      text = `${low === high ? low : `${low} … ${high}`}${info.unit ? ` ${visible(info.unit, 20)}` : ''}`;
    }
    setText(this.number, text);
    setText(this.label, visible(`${topic} ${path}`, 80) + (problem ? ` (${visible(problem, 60)})` : ''));
    const about = `${visible(topic, 500)}  ${visible(path, 500)}${problem ? `: ${visible(problem, 500)}` : ''}`;
    setTitle(this.label, `${about}\nClick to ${shown ? 'hide' : 'show'} this line`);
    this.label.setAttribute('aria-pressed', String(shown));
    this.element.classList.toggle('problem', problem !== '');
    this.element.classList.toggle('hidden-line', !shown);
  }
}
