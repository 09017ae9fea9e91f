// A decoded sample as a tree that follows the newest sample. Only opened branches have elements.

import {h, setText, setTitle} from './dom.js';
import {number, visible} from './text.js';

const OPEN_DEPTH = 3;     // deeper branches begin closed
const OPEN_LENGTH = 12;   // and longer arrays
const PLOTTABLE = new Set(['number', 'bool', 'enum']);
const DRAGGED_FIELD = 'application/x-orc-field';

export function dragsField(event) {
  return event.dataTransfer.types.includes(DRAGGED_FIELD);
}

// {topic, path}; null: something else is dragged.
export function draggedField(event) {
  if (!dragsField(event)) return null;
  const {topic, path} = JSON.parse(event.dataTransfer.getData(DRAGGED_FIELD));
  return {topic: String(topic), path: String(path)};
}

// The path of a field as orc's tools write it, "arm.q[3]"; null where a name has no place in one.
function pathOf(parent, part) {
  if (parent === null) return null;
  if (typeof part === 'number') return `${parent}[${part}]`;
  if (part === '' || /[.[\]]/.test(part)) return null;
  return parent === '' ? part : `${parent}.${part}`;
}

function childrenOf(tree) {
  if (tree.k === 'object') return tree.f.map(([name, value]) => [name, value]);
  if (tree.k === 'array') return tree.i.map((value, index) => [index, value]);
  return null;
}

function hexText(tree) {
  const pairs = (tree.v.match(/../g) ?? []).join(' ');
  return tree.n > tree.v.length / 2 ? `${pairs} …` : pairs;
}

function leafText(tree) {
  switch (tree.k) {
    case 'number': return number(tree.v);
    case 'string': return `“${visible(tree.v, 2000)}”`;
    case 'bool': return String(tree.v);
    case 'enum': return `${visible(tree.v)} (${tree.n})`;
    case 'bytes': return hexText(tree);
    case 'null': return 'none';
    default: return '';
  }
}

function summary(tree) {
  if (tree.k === 'object') return tree.f.length === 0 ? '{ }' : '';
  const few = tree.i.slice(0, 6);
  if (few.length === 0 || !few.every((each) => each.k === 'number' || each.k === 'bool')) return `${tree.n} elements`;
  return `${tree.n}: ${few.map(leafText).join('  ')}${tree.n > few.length ? ' …' : ''}`;
}

// One line of the tree, and those below it.
class Branch {
  #view;
  #part;
  #path;
  #depth;
  #children = null;  // Map from part to Branch, while open
  #kind = '';
  #open = null;      // null: the user did not choose
  #tree = null;

  constructor(view, part, path, depth) {
    this.#view = view;
    this.#part = part;
    this.#path = path;
    this.#depth = depth;
    this.element = h('div', {class: 'branch'});
  }

  show(tree) {
    this.#tree = tree;
    if (tree.k !== this.#kind) this.#rebuild(tree);
    const children = childrenOf(tree);
    if (children === null) {
      setText(this.value, leafText(tree));
      this.value.classList.toggle('missing', tree.k === 'null');
      setText(this.unit, tree.k === 'bytes' ? `${tree.n} bytes` : visible(tree.u ?? '', 40));
      return;
    }
    const open = this.#open ?? (this.#depth < OPEN_DEPTH && (tree.k === 'object' || children.length <= OPEN_LENGTH));
    this.toggle.setAttribute('aria-expanded', String(open));
    setText(this.value, open && tree.k === 'array' ? `${tree.n} elements` : summary(tree));
    if (open) this.#showChildren(children);
    else this.#dropChildren();
    const hidden = tree.k === 'array' ? tree.n - tree.i.length : 0;
    setText(this.more, open && hidden > 0 ? `… ${hidden} more` : '');
  }

  #rebuild(tree) {
    this.#kind = tree.k;
    this.#children = null;
    this.value = h('span', {class: `value ${tree.k}`});
    const name = typeof this.#part === 'number' ? `[${this.#part}]` : visible(this.#part);
    if (childrenOf(tree) !== null) {
      this.toggle = h('button', {type: 'button', class: 'toggle', onclick: () => {
        this.#open = this.toggle.getAttribute('aria-expanded') !== 'true';
        this.show(this.#tree);
      }}, h('span', {class: 'name', text: name}));
      this.box = h('div', {class: 'below'});
      this.more = h('div', {class: 'more'});
      this.element.replaceChildren(h('div', {class: 'line'}, this.toggle, this.value), this.box, this.more);
      return;
    }
    this.unit = h('span', {class: 'unit'});
    const line = h('div', {class: 'line leaf'}, h('span', {class: 'name', text: name}), this.value, this.unit);
    if (PLOTTABLE.has(tree.k) && this.#path !== null) this.#offerPlot(line);
    this.element.replaceChildren(line);
  }

  #offerPlot(line) {
    const field = {topic: this.#view.topic, path: this.#path};
    line.draggable = true;
    line.dataset.path = this.#path;
    line.addEventListener('dragstart', (event) => {
      event.dataTransfer.setData(DRAGGED_FIELD, JSON.stringify(field));
      event.dataTransfer.effectAllowed = 'copy';
      document.body.classList.add('dragging-field');
    });
    line.addEventListener('dragend', () => document.body.classList.remove('dragging-field'));
    const add = h('button', {type: 'button', class: 'plot-it', text: '+', title: 'Plot this field (or drag it into a plot)',
      'aria-label': `Plot ${visible(this.#path)}`, onclick: () => this.#view.onplot(field)});
    line.prepend(add);
  }

  #showChildren(children) {
    const before = this.#children ?? new Map();
    const after = new Map();
    let changed = this.#children === null || before.size !== children.length;
    for (const [part, value] of children) {
      const key = after.has(part) ? `${part}\u0000${after.size}` : part;  // JSON from strangers can name a field twice
      let branch = before.get(key);
      if (!branch) {
        branch = new Branch(this.#view, part, pathOf(this.#path, part), this.#depth + 1);
        changed = true;
      }
      after.set(key, branch);
      branch.show(value);
    }
    this.#children = after;
    if (changed) this.box.replaceChildren(...[...after.values()].map((each) => each.element));
  }

  #dropChildren() {
    if (this.#children === null) return;
    this.#children = null;
    this.box.replaceChildren();
  }

  // Without a line for the sample itself.
  showRoot(tree) {
    const children = childrenOf(tree);
    if (children === null || children.length === 0) {
      this.show(tree);
      return;
    }
    this.#kind = '';
    // A leaf takes the place of the box, for example the bytes of a sample that cannot be decoded.
    if (!this.box?.root || this.box.parentNode !== this.element) {
      this.box = h('div');
      this.box.root = true;
      this.#children = null;
      this.element.replaceChildren(this.box);
    }
    this.#showChildren(children);
  }
}

export class TreeView {
  #root;

  constructor(topic, onplot) {
    this.topic = topic;
    this.onplot = onplot;
    this.element = h('div', {class: 'tree'});
    this.clear();
  }

  clear() {
    this.#root = new Branch(this, '', '', 0);
    this.element.replaceChildren(this.#root.element);
  }

  show(tree) {
    this.#root.showRoot(tree);
  }
}
