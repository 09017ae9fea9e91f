// A list of elements in the order of their names, with a filter.

import {setText} from './dom.js';

export class NamedRows {
  #list;
  #empty;
  #rows = new Map();  // name -> what make() returned, and its item
  #old = new Set();  // names of the connection before
  #words = [];
  #known = false;

  // `make(item)` returns {element, show(item), text(item)}: what the filter looks in is the text.
  constructor({list, empty, filter, make, none}) {
    this.#list = list;
    this.#empty = empty;
    this.make = make;
    this.none = none;
    filter.addEventListener('input', () => {
      this.#words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      this.#arrange();
    });
    this.#arrange();
  }

  // What the server says: items that are new or others, and names that are gone.
  change({changed, gone}) {
    this.#known = true;
    for (const {name} of changed) this.#old.delete(name);
    for (const name of [...this.#old, ...gone]) {
      this.#rows.get(name)?.element.remove();
      this.#rows.delete(name);
    }
    this.#old.clear();
    for (const item of changed) {
      const there = this.#rows.get(item.name) ?? this.#insert(item);
      there.item = item;
      there.show(item);
    }
    this.#arrange();
  }

  // Another connection tells everything again. What is typed in a row stays until then.
  restart() {
    this.#old = new Set(this.#rows.keys());
  }

  each(act) {
    for (const row of this.#rows.values()) act(row);
  }

  #insert(item) {
    const made = this.make(item);
    made.element.dataset.name = item.name;
    const next = [...this.#list.children].find((each) => each.dataset.name > item.name);
    this.#list.insertBefore(made.element, next ?? null);
    this.#rows.set(item.name, made);
    return made;
  }

  #arrange() {
    let shown = 0;
    for (const {item, element, text} of this.#rows.values()) {
      const found = text(item).toLowerCase();
      element.hidden = !this.#words.every((word) => found.includes(word));
      if (!element.hidden) shown += 1;
    }
    this.#empty.hidden = shown > 0;
    setText(this.#empty, !this.#known ? 'Waiting …' : this.#rows.size > 0 ? 'None matches the filter.' : this.none);
  }
}
