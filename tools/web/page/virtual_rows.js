// A list of rows of one height, of which only the visible ones are elements: 10,000 rows cost as much as 50.

import {h} from './dom.js';

const SPARE = 6;  // rows above and below the window

export class VirtualRows {
  #scroller;
  #space;
  #height;
  #make;
  #fill;
  #rows = [];   // elements, by position modulo their number
  #items = [];

  // `make()` returns an empty row; `fill(row, item, index)` shows an item in it.
  constructor(scroller, rowHeight, make, fill) {
    this.#scroller = scroller;
    this.#height = rowHeight;
    this.#make = make;
    this.#fill = fill;
    this.#space = h('div', {class: 'rows-space', role: 'rowgroup'});
    scroller.append(this.#space);
    scroller.addEventListener('scroll', () => this.draw(), {passive: true});
    new ResizeObserver(() => this.draw()).observe(scroller);
  }

  set(items) {
    this.#items = items;
    this.#space.style.height = `${items.length * this.#height}px`;
    this.draw();
  }

  // For rows of another form.
  remake() {
    this.#rows = [];
    this.#space.replaceChildren();
    this.draw();
  }

  draw() {
    const header = this.#space.offsetTop;
    const top = Math.max(0, this.#scroller.scrollTop);
    const first = Math.max(0, Math.floor(top / this.#height) - SPARE);
    const window = Math.ceil((this.#scroller.clientHeight - header) / this.#height) + 2 * SPARE;
    const needed = Math.max(0, Math.min(this.#items.length - first, window));
    if (this.#rows.length < needed) this.#grow(needed);
    for (const row of this.#rows) row.wanted = false;
    for (let index = first; index < first + needed; index += 1) {
      const row = this.#rows[index % this.#rows.length];
      row.wanted = true;
      row.style.transform = `translateY(${index * this.#height}px)`;
      this.#fill(row, this.#items[index], index);
    }
    for (const row of this.#rows) {
      if (row.hidden === row.wanted) row.hidden = !row.wanted;
    }
  }

  // Scrolls as little as needed to show a row.
  reveal(index) {
    const top = index * this.#height;
    const seen = this.#scroller.clientHeight - this.#space.offsetTop;
    if (top < this.#scroller.scrollTop) this.#scroller.scrollTop = top;
    else if (top + this.#height > this.#scroller.scrollTop + seen) this.#scroller.scrollTop = top + this.#height - seen;
    this.draw();
  }

  get pageSize() {
    return Math.max(1, Math.floor(this.#scroller.clientHeight / this.#height) - 2);
  }

  #grow(needed) {
    while (this.#rows.length < needed) {
      const row = this.#make();
      row.hidden = true;
      this.#rows.push(row);
      this.#space.append(row);
    }
  }
}
