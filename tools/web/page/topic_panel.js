// One opened topic: its newest sample as a tree, image, figures over time, subscribers.

import {Counters} from './counters.js';
import {h, setText, setTitle} from './dom.js';
import {ImageView, canBeImage, looksLikeImage} from './image_view.js';
import {publishersOf} from './publishers.js';
import {bandwidth, clock, count, duration, hostName, rate, shortCount, size, visible} from './text.js';
import {TreeView} from './tree_view.js';

const PUBLISHERS_HEAD = [
  ['Publisher'],
  ['Rate'],
  ['Dropped', 'Samples that a newer one replaced before a subscriber took them, since it began to publish'],
  ['Age', 'Time since it sent its newest sample'],
];

const SUBSCRIBERS_HEAD = [
  ['Subscriber'],
  ['Transport'],
  ['Rate'],
  ['Missed', 'Samples that it did not take, or that were lost, since it subscribed'],
  ['Latency', 'Age of its newest sample when it arrived'],
];

function publisherText(topic, live) {
  const {publisher} = topic;
  const count = publishersOf(topic).length;
  if (count > 1) return `${count} publishers`;
  if (!publisher) return live ? 'no publisher' : 'recorded; the file does not name the publisher';
  const process = publisher.pid ? `  (process ${publisher.pid}${live ? `, host ${hostName(publisher.host)}` : ''})` : '';
  return `${visible(publisher.name)}${process}`;
}

function table(head, body) {
  const cells = head.map(([text, title]) => h('th', {scope: 'col', text, title}));
  return h('table', {}, h('thead', {}, h('tr', {}, ...cells)), body);
}

function setRows(body, rows, classes) {
  while (body.rows.length > rows) body.lastChild.remove();
  while (body.rows.length < rows) body.append(h('tr', {}, ...classes.map((name) => h('td', {class: name}))));
}

export class TopicPanel {
  #connection;
  #handle;
  #tree;
  #counters = new Counters();
  #image = null;
  #imageChosen = false;  // by the user, or by the first sample
  #sample = null;
  #arrived = 0;
  #type = '';
  #live;

  // `onclose(panel)`, `onplot(field)`, `onchange()`; `onlarge(panel)`: the user clicks the image; `onimageend(panel)`: it
  // will be removed; `live()`: this is no recording.
  constructor(connection, topic, {onclose, onplot, onchange, onlarge, onimageend, live}) {
    this.topic = topic;
    this.#connection = connection;
    this.#live = live;
    this.onchange = onchange;
    this.onlarge = onlarge;
    this.onimageend = onimageend;
    this.#tree = new TreeView(topic, onplot);
    this.about = h('div', {class: 'about'});
    this.state = h('div', {class: 'state', role: 'status'});
    this.stamp = h('div', {class: 'stamp'});
    this.fields = h('div', {class: 'fields'}, this.#tree.element);
    this.pictures = h('div', {class: 'pictures'});
    this.publishers = h('tbody');
    this.subscribers = h('tbody');
    this.imageButton = h('button', {type: 'button', class: 'small', text: 'Image', 'aria-pressed': 'false',
      title: 'Show this topic as an image', onclick: () => {
        this.#imageChosen = true;
        this.showImage(this.#image === null);
        this.onchange();
      }});
    this.imageButton.hidden = true;
    const close = h('button', {type: 'button', class: 'icon', text: '✕', title: 'Close this topic', 'aria-label': `Close ${visible(topic)}`,
      onclick: () => onclose(this)});
    this.publisherTable = table(PUBLISHERS_HEAD, this.publishers);
    this.publisherPart = h('details', {class: 'live-only publishers', open: true}, h('summary', {text: 'Publishers'}), this.publisherTable);
    this.publisherPart.hidden = true;
    this.subscriberTable = table(SUBSCRIBERS_HEAD, this.subscribers);
    this.noSubscribers = h('div', {class: 'note', text: 'No subscribers.'});
    const title = h('h2', {}, h('bdi', {text: visible(topic), title: visible(topic, 500)}));
    this.element = h('article', {class: 'panel', tabindex: '-1', 'aria-label': visible(topic)},
      h('header', {}, title, this.imageButton, close), this.about, this.state, this.stamp, this.pictures, this.fields,
      h('details', {class: 'live-only', open: true}, h('summary', {text: 'Over time'}), this.#counters.element),
      this.publisherPart,
      h('details', {class: 'live-only', open: true}, h('summary', {text: 'Subscribers'}), this.subscriberTable, this.noSubscribers));
    this.#handle = connection.open({op: 'open', topic}, {
      sample: (sample) => this.#show(sample),
      topic: (message) => {
        if (message.state === 'waiting' && !this.#live()) this.#forget();
        this.#setState(message.state, message.message);
      },
      error: (message) => this.#setState('error', message.message),
    });
    this.#setState('waiting');
  }

  get imageShown() {
    return this.#image !== null;
  }

  get imageElement() {
    return this.#image.element;
  }

  takeImageBack() {
    this.pictures.append(this.#image.element);
  }

  close() {
    this.#handle.close();
    this.showImage(false);
    this.element.remove();
  }

  showImage(shown) {
    this.#imageChosen ||= shown;
    if (shown === (this.#image !== null)) return;
    this.imageButton.setAttribute('aria-pressed', String(shown));
    if (shown) {
      this.#image = new ImageView(this.#connection, this.topic, () => this.onlarge(this));
      this.pictures.append(this.#image.element);
      this.#showImageChoice();
    } else {
      this.onimageend(this);
      this.#image.close();
      this.#image = null;
    }
  }

  // The figures of this topic; undefined: the broker knows no such topic.
  update(time, topic) {
    if (topic === undefined) {
      setText(this.about, '');
      return;
    }
    const live = this.#live();
    if (topic.publisher || topic.type || this.#type === '') {  // without a publisher, the last sample still has its type
      this.#type = `${topic.type ? visible(topic.type) : 'untyped'}${topic.encoding ? ` (${visible(topic.encoding)})` : ''}`;
    }
    setText(this.about, `${this.#type}\n${publisherText(topic, live)}`);
    if (!live) return;
    this.#counters.add(time, topic);
    this.#showPublishers(topic.shared_by ?? []);
    this.#showSubscribers(topic);
  }

  tick() {
    this.#image?.tick();
    if (this.#sample === null) return;
    const since = this.#live() ? (performance.now() - this.#arrived) / 1000 : 0;
    const {stamp, age, sequence, size: bytes} = this.#sample;
    const parts = [clock(stamp), typeof age === 'number' ? `${duration(age + (since > 0.5 ? since : 0))} old` : '',
                   `#${count(sequence)}`, size(bytes)];
    setText(this.stamp, parts.filter(Boolean).join('   '));
  }

  restyle() {
    this.#counters.restyle();
  }

  #show(sample) {
    const first = this.#sample === null;
    this.#sample = sample;
    this.#arrived = performance.now();
    if (!this.#imageChosen) {
      this.#imageChosen = true;
      if (looksLikeImage(sample.tree)) {
        this.showImage(true);
        this.onchange();
      }
    }
    this.#showImageChoice();
    this.#tree.show(sample.tree);
    if (first || this.state.dataset.state === 'error' || sample.note || this.noted) this.#setState('up', sample.note);
    this.noted = Boolean(sample.note);
    this.tick();
  }

  // Offered where the type can be an image.
  #showImageChoice() {
    const possible = this.#sample !== null && canBeImage(this.#sample.tree);
    this.imageButton.hidden = !possible && this.#image === null;
    if (this.#sample !== null && !possible) this.#image?.noImage();
  }

  // A jump led to a time before its first sample.
  #forget() {
    this.#sample = null;
    this.#tree.clear();
    setText(this.stamp, '');
  }

  #setState(state, message = '') {
    let text = message;
    if (state === 'up' && text === '' && this.#sample === null) text = 'Waiting for the first sample.';
    if ((state === 'waiting' || state === 'gone') && (text === '' || text === 'no publisher')) {
      if (this.#sample !== null) text = 'The publisher is gone. This is its last sample.';
      else text = text === '' ? 'Waiting for a sample.' : 'No program publishes this topic now.';
    }
    this.state.dataset.state = state;
    setText(this.state, visible(text, 1000));
    this.state.hidden = text === '';
  }

  #showPublishers(all) {
    setRows(this.publishers, all.length, ['', 'number', 'number', 'number']);
    all.forEach((each, index) => {
      const cells = this.publishers.rows[index].cells;
      setText(cells[0], visible(each.name, 60));
      setTitle(cells[0], `${visible(each.name, 500)}, process ${each.pid} on ${visible(each.host)}: ${visible(each.type ?? 'untyped', 500)}`);
      setText(cells[1], rate(each.rate));
      setTitle(cells[1], bandwidth(each.bandwidth));
      setText(cells[2], shortCount(each.dropped));
      setTitle(cells[2], `${count(each.dropped)} dropped of ${count(each.sent)} sent`);
      setText(cells[3], duration(each.age));
    });
    this.publisherPart.hidden = all.length === 0;
  }

  #showSubscribers(topic) {
    const all = topic.subscriptions ?? [];
    setRows(this.subscribers, all.length, ['', '', 'number', 'number', 'number']);
    all.forEach((each, index) => {
      const cells = this.subscribers.rows[index].cells;
      const who = each.subscriber ?? {};
      setText(cells[0], visible(who.name ?? '', 60));
      setTitle(cells[0], `${visible(who.name ?? '', 500)}, process ${who.pid} on ${visible(who.host ?? '')}`);
      setText(cells[1], each.transport ?? 'no link');
      setTitle(cells[1], visible(each.reason ?? '', 500));
      setText(cells[2], rate(each.rate));
      setText(cells[3], shortCount(each.missed));
      setTitle(cells[3], `${count(each.missed)} missed`);
      setText(cells[4], duration(each.age));
    });
    this.subscriberTable.hidden = all.length === 0;
    this.noSubscribers.hidden = all.length > 0;
    const more = (topic.subscribers ?? all.length) - all.length;
    if (more > 0) setText(this.noSubscribers, `${more} more`);
    else setText(this.noSubscribers, 'No subscribers.');
    if (more > 0) this.noSubscribers.hidden = false;
  }
}
