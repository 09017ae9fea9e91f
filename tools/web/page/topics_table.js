// The table of topics: filter, sortable columns, keyboard.

import {byId, h, setText, setTitle} from './dom.js';
import {publishersOf} from './publishers.js';
import {bandwidth, count, duration, perSecond, rate, shortCount, size, visible} from './text.js';
import {VirtualRows} from './virtual_rows.js';

const ROW_HEIGHT = 24;

function transports(topic) {
  const used = topic.transports ?? [];
  if (used.length === 0) return (topic.offered ?? []).length > 0 ? `(${topic.offered.join(' ')})` : '';
  return used.map((each) => (used.length > 1 ? `${each.transport} ${each.count}` : each.transport)).join(', ');
}

// Sets `publisherText` of each topic: its publisher's name, and the pid where several processes have this name. A topic
// with several publishers has their number first, so that a narrow cell shows it.
function namePublishers(topics) {
  const processes = new Map();  // by name; null: several
  for (const publisher of topics.flatMap(publishersOf)) {
    const process = `${publisher.host} ${publisher.pid}`;
    const known = processes.has(publisher.name) ? processes.get(publisher.name) : process;
    processes.set(publisher.name, known === process ? process : null);
  }
  for (const topic of topics) {
    const names = publishersOf(topic).map(({name, pid}) => (processes.get(name) === null && pid ? `${name} (${pid})` : name));
    topic.publisherText = names.length > 1 ? `${names.length}: ${names.join(', ')}` : names[0] ?? '';
  }
}

// text: what the cell shows; key: what the column is sorted by; numbers sort the largest first. table.css leaves out
// columns that have no room.
const TOPIC = {id: 'topic', name: 'Topic', text: (t) => visible(t.name), key: (t) => t.name};
const TYPE = {id: 'type', name: 'Type', text: (t) => visible(t.type ?? ''), key: (t) => t.type ?? '',
  title: (t) => (t.type ? `${visible(t.type, 500)} (${visible(t.encoding ?? '')})` : 'untyped: bytes')};
const RATE = {id: 'rate', name: 'Rate', number: true, text: (t) => rate(t.rate), key: (t) => t.rate};

const LIVE = [
  TOPIC,
  TYPE,
  {id: 'publisher', name: 'Publisher', text: (t) => visible(t.publisherText), key: (t) => t.publisherText,
   title: (t) => (t.publisher ? publishersOf(t).map((each) => `${visible(each.name, 500)}, process ${each.pid} on host ${visible(each.host)}`).join('\n')
                              : 'no program publishes this topic now')},
  {id: 'transport', name: 'Transport', text: transports, key: transports,
   title: (t) => ((t.offered ?? []).length > 0 ? `the publisher offers: ${t.offered.join(', ')}` : '')},
  RATE,
  {id: 'jitter', name: 'Jitter', number: true, text: (t) => duration(t.jitter), key: (t) => t.jitter,
   help: 'Standard deviation of the time between samples'},
  {id: 'bandwidth', name: 'Bandwidth', number: true, text: (t) => bandwidth(t.bandwidth), key: (t) => t.bandwidth},
  {id: 'age', name: 'Age', number: true, text: (t) => duration(t.age), key: (t) => t.age, help: 'Time since the newest sample was sent'},
  {id: 'missed', name: 'Missed/s', number: true, text: (t) => perSecond(t.missed_rate), key: (t) => t.missed_rate,
   help: 'Samples per second that subscribers did not take, or that were lost',
   title: (t) => `${count(t.missed)} missed by all subscribers together since they started`},
  {id: 'subscribers', name: 'Subs', number: true, text: (t) => shortCount(t.subscribers), key: (t) => t.subscribers,
   help: 'Subscribers'},
];

const RECORDED = [
  TOPIC,
  TYPE,
  {id: 'publisher', name: 'Publisher', text: (t) => visible(t.publisherText), key: (t) => t.publisherText,
   title: (t) => (t.publisher ? `${visible(t.publisher.name, 500)}${t.publisher.pid ? `, process ${t.publisher.pid}` : ''}`
                              : 'the file does not name the publisher')},
  {id: 'samples', name: 'Samples', number: true, text: (t) => shortCount(t.samples), key: (t) => t.samples,
   help: 'Samples in the recording', title: (t) => `${count(t.samples)} samples`},
  {...RATE, help: 'Samples per second, on average over the recording'},
  {id: 'size', name: 'Size', number: true, text: (t) => size(t.size), key: (t) => t.size, help: 'Size of the last sample'},
  {id: 'missed', name: 'Missed', number: true, text: (t) => shortCount(t.missed), key: (t) => t.missed,
   help: 'Samples that the recorder did not receive or could not write',
   title: (t) => (typeof t.missed === 'number' ? `${count(t.missed)} samples are not in the file` : 'the file does not say')},
];

// Two digits are enough to sort by: with more, rows of equal rate would change places all the time.
function coarse(value) {
  if (typeof value !== 'number' || !Number.isFinite(value)) return -1;
  return value === 0 ? 0 : Number(value.toPrecision(2));
}

export class TopicsTable {
  #rows;
  #topics = [];
  #shown = [];
  #columns = LIVE;
  #sort = {column: TOPIC, down: false};
  #wantedSort = TOPIC.id;  // also one of columns that are not shown
  #filter = '';
  #selected = null;  // the name of a topic
  #opened = new Set();
  #headers = new Map();
  #scroller = byId('topics-rows');

  // `onopen(name)`: the user opens or closes a topic. `onchange()`: filter or order are others.
  constructor({onopen, onchange}) {
    this.onopen = onopen;
    this.onchange = onchange;
    this.#makeHeader();
    this.#rows = new VirtualRows(this.#scroller, ROW_HEIGHT, () => this.#makeRow(), (row, topic) => this.#fillRow(row, topic));
    this.#scroller.addEventListener('keydown', (event) => this.#key(event));
    const field = byId('filter');
    field.addEventListener('input', () => this.setFilter(field.value, true));
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        field.value = '';
        this.setFilter('', true);
      } else if (event.key === 'ArrowDown' || event.key === 'Enter') {
        event.preventDefault();
        this.#select(this.#shown[0]?.name ?? null);
        this.#scroller.focus();
      }
    });
  }

  // Call before the first update().
  showRecording(recorded) {
    const columns = recorded ? RECORDED : LIVE;
    if (columns === this.#columns) return;
    this.#columns = columns;
    byId('view-topics').classList.toggle('recorded', recorded);
    this.#headers.clear();
    byId('topics-header').replaceChildren();
    this.#makeHeader();
    this.#rows.remake();
    this.setSort(this.#wantedSort);
  }

  update(topics) {
    this.#topics = topics;
    namePublishers(topics);
    this.#arrange();
  }

  setOpened(names) {
    this.#opened = new Set(names);
    this.#rows.draw();
  }

  get filter() {
    return this.#filter;
  }

  setFilter(text, byUser = false) {
    this.#filter = text;
    if (!byUser) byId('filter').value = text;
    this.#scroller.scrollTop = 0;
    this.#arrange();
    if (byUser) this.onchange();
  }

  // "rate-" sorts by the rate, the largest first.
  get sort() {
    return this.#wantedSort;
  }

  setSort(text) {
    this.#wantedSort = text;
    const column = this.#columns.find((each) => each.id === text.replace(/-$/, ''));
    this.#sort = {column: column ?? TOPIC, down: column !== undefined && text.endsWith('-')};
    this.#arrange();
  }

  #makeHeader() {
    const header = byId('topics-header');
    for (const column of this.#columns) {
      const button = h('button', {type: 'button', text: column.name, title: column.help,
        onclick: () => {
          const down = this.#sort.column === column ? !this.#sort.down : Boolean(column.number);
          this.setSort(column.id + (down ? '-' : ''));
          this.onchange();
        }});
      const cell = h('div', {class: `cell ${column.id}${column.number ? ' number' : ''}`, role: 'columnheader'}, button);
      this.#headers.set(column, cell);
      header.append(cell);
    }
  }

  #makeRow() {
    const row = h('div', {class: 'row', role: 'row', onclick: () => {
      this.#select(row.topic);
      this.onopen(row.topic);
    }});
    row.cells = this.#columns.map((column) => h('div', {class: `cell ${column.id}${column.number ? ' number' : ''}`, role: 'gridcell'}));
    row.append(...row.cells);
    return row;
  }

  #fillRow(row, topic) {
    row.topic = topic.name;
    this.#columns.forEach((column, index) => {
      const text = column.text(topic);
      setText(row.cells[index], text);
      setTitle(row.cells[index], column.title ? column.title(topic) : column.number ? '' : text);
    });
    row.classList.toggle('gone', this.#columns === LIVE && !topic.publisher);
    row.classList.toggle('stopped', topic.rate === 0);
    row.classList.toggle('opened', this.#opened.has(topic.name));
    row.classList.toggle('selected', topic.name === this.#selected);
  }

  #arrange() {
    const {column, down} = this.#sort;
    const words = this.#filter.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (topic) => words.every((word) =>
      topic.name.toLowerCase().includes(word) || (topic.type ?? '').toLowerCase().includes(word) ||
      topic.publisherText.toLowerCase().includes(word) || transports(topic).includes(word));
    const found = words.length > 0 ? this.#topics.filter(matches) : [...this.#topics];
    const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
    const keys = new Map(found.map((topic) => [topic, column.number ? coarse(column.key(topic)) : column.key(topic)]));
    const sign = down ? -1 : 1;
    found.sort((a, b) => {
      const x = keys.get(a);
      const y = keys.get(b);
      return x < y ? -sign : x > y ? sign : byName(a, b);
    });
    this.#shown = found;
    for (const [each, cell] of this.#headers) {
      cell.setAttribute('aria-sort', each !== column ? 'none' : down ? 'descending' : 'ascending');
    }
    this.#scroller.setAttribute('aria-rowcount', String(found.length));
    byId('topics-count').textContent = words.length > 0 ? `${found.length} of ${this.#topics.length}` : `${found.length}`;
    byId('topics-empty').hidden = found.length > 0;
    byId('topics-empty').textContent = words.length > 0 ? 'No topic matches the filter.' : 'No topics yet.';
    this.#rows.set(found);
  }

  #select(name) {
    this.#selected = name;
    const index = this.#shown.findIndex((topic) => topic.name === name);
    if (index >= 0) this.#rows.reveal(index);
    else this.#rows.draw();
  }

  #key(event) {
    const at = this.#shown.findIndex((topic) => topic.name === this.#selected);
    const last = this.#shown.length - 1;
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: this.#rows.pageSize, PageUp: -this.#rows.pageSize,
                   Home: -Infinity, End: Infinity};
    if (event.key in steps && last >= 0) {
      event.preventDefault();
      const to = at < 0 ? 0 : Math.min(last, Math.max(0, at + steps[event.key]));
      this.#select(this.#shown[to].name);
    } else if (event.key === 'Enter' && at >= 0) {
      this.onopen(this.#selected);
    }
  }
}
