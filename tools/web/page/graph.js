// Who sends what to whom: participants as nodes, topics as edges between them. A publisher's topics that have no
// subscriber are a node of their own, beside it.

import {byId, h, setText, svg} from './dom.js';
import {placeLabels} from './graph_labels.js';
import {layout, NODE} from './graph_layout.js';
import {publishersOf} from './publishers.js';
import {bandwidth, hostName, rate, visible} from './text.js';

const LABELS_UP_TO = 24;  // with more edges only those in focus have labels
const LABELS_IN_FOCUS = 8;
const SMALLEST = 0.7;  // scale at which names can still be read; then it scrolls
const LISTED = 40;        // topics in the text of a node or an edge

const idOf = (who) => `${who.host} ${who.pid} ${who.name}`;

// What a subscription can receive of one publisher of a shared topic: subscribers count the samples of all together.
function ofPublisher(subscription, {rate: sent}) {
  if (typeof sent !== 'number' || typeof subscription.rate !== 'number') return subscription;
  return {...subscription, rate: Math.min(sent, subscription.rate)};
}

// {nodes: [{id, host, name, pid, published, subscribed}], edges: [{id, from, to, topics: [{topic, subscription}]}]}
// A node of topics without a subscriber has `unread`, the topics; the edge to it has no topics.
function graphOf(system) {
  const nodes = new Map();
  const node = (who) => {
    const id = idOf(who);
    if (!nodes.has(id)) nodes.set(id, {id, host: String(who.host), name: who.name, pid: who.pid, published: [], subscribed: []});
    return nodes.get(id);
  };
  for (const participant of system.participants ?? []) node(participant);
  const edges = new Map();
  const unread = new Map();
  for (const topic of system.topics ?? []) {
    const publishers = publishersOf(topic);
    for (const who of publishers) {
      const from = node(who);
      from.published.push(topic);
      if ((topic.subscribers ?? 0) === 0) (unread.get(from) ?? unread.set(from, []).get(from)).push(topic);
    }
    for (const subscription of topic.subscriptions ?? []) {
      const to = node(subscription.subscriber);
      to.subscribed.push(topic);
      for (const who of publishers) {
        const from = node(who);
        const id = `${from.id}\n${to.id}`;
        if (!edges.has(id)) edges.set(id, {id, from: from.id, to: to.id, topics: []});
        edges.get(id).topics.push({topic, subscription: ofPublisher(subscription, who)});
      }
    }
  }
  for (const [from, topics] of unread) {
    const id = `${from.id}\nunread`;
    nodes.set(id, {id, host: from.host, unread: topics});
    edges.set(id, {id: `${id} edge`, from: from.id, to: id, topics: []});
  }
  return {nodes: [...nodes.values()], edges: [...edges.values()]};
}

function curve(from, to) {
  const {width, height} = NODE;
  const start = [from.x + width, from.y + height / 2];
  const end = [to.x, to.y + height / 2];
  if (from === to) return `M${from.x + width - 30},${from.y} c10,-22 30,-10 30,${height / 2}`;
  if (end[0] > start[0]) {
    const bend = Math.max(40, (end[0] - start[0]) / 2);
    return `M${start} C${start[0] + bend},${start[1]} ${end[0] - bend},${end[1]} ${end}`;
  }
  if (from.x === to.x) {  // in one column: on its right side
    const bow = 26 + Math.abs(end[1] - start[1]) / 6;
    return `M${start} C${start[0] + bow},${start[1]} ${start[0] + bow},${end[1]} ${to.x + width},${end[1]}`;
  }
  // backwards: from below to below
  const low = Math.max(from.y, to.y) + height + 34;
  return `M${from.x + width / 2},${from.y + height} C${from.x + width / 2},${low} ${to.x + width / 2},${low} ${to.x + width / 2},${to.y + height}`;
}

export class Graph {
  #shape = '';
  #edges = new Map();  // id -> {group, label, edge}
  #nodes = new Map();
  #focus = null;       // id of a node or an edge
  #described = null;   // what the details are about
  #system = null;

  constructor({onopen}) {
    this.onopen = onopen;
    this.canvas = byId('graph-canvas');
    this.details = byId('graph-details');
  }

  // Draws nothing while it is not seen.
  update(system) {
    this.#system = system;
    if (!byId('view-graph').hidden) this.#draw();
  }

  shown() {
    if (this.#system !== null) this.#draw();
  }

  #draw() {
    const graph = graphOf(this.#system);
    byId('graph-empty').hidden = graph.nodes.length > 0;
    const shape = JSON.stringify([graph.nodes.map((node) => node.id).sort(), graph.edges.map((edge) => edge.id).sort()]);
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#rebuild(graph);
    }
    for (const edge of graph.edges) this.#showEdge(edge);
    for (const node of graph.nodes) this.#showNode(node);
    this.#showDetails();
  }

  #rebuild(graph) {
    const placed = layout(graph.nodes, graph.edges);
    const [width, height] = [placed.width + 60, placed.height + 20];
    this.#edges.clear();
    this.#nodes.clear();
    const arrow = svg('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto'},
      svg('path', {d: 'M0,0.5 L8,4 L0,7.5 z', class: 'arrow'}));
    const bands = placed.bands.map((band) => svg('g', {class: 'band'},
      svg('rect', {x: band.x, y: band.y, width: band.width, height: band.height, rx: 6}),
      svg('text', {x: band.x + 12, y: band.y + 15, text: `host ${hostName(band.host)}`})));
    const edges = graph.edges.map((edge) => this.#makeEdge(edge, placed.nodes));
    const nodes = graph.nodes.map((node) => this.#makeNode(node, placed.nodes.get(node.id)));
    const labels = [...this.#edges.values()].filter((each) => each.edge.topics.length > 0).map((each) => each.label);
    const picture = svg('svg', {viewBox: `-30 -10 ${width} ${height}`, width, height,
      class: labels.length <= LABELS_UP_TO ? 'labelled' : ''}, svg('defs', {}, arrow), ...bands, ...edges, ...nodes, ...labels);
    picture.style.minWidth = `${width * SMALLEST}px`;
    this.canvas.replaceChildren(picture);
    placeLabels([...this.#edges.values()].filter((each) => each.edge.topics.length > 0), [...placed.nodes.values()]);
    if (!this.#nodes.has(this.#focus) && !this.#edges.has(this.#focus)) this.#focus = null;
    this.#highlight();
  }

  #makeEdge(edge, places) {
    const path = curve(places.get(edge.from), places.get(edge.to));
    const line = svg('path', {d: path, class: 'line', 'marker-end': 'url(#arrow)'});
    const group = svg('g', {class: 'edge', tabindex: 0, role: 'button'}, svg('path', {d: path, class: 'reach'}), line);
    const distance = places.get(edge.to).x - places.get(edge.from).x;
    const near = distance > 0 && distance < 1.5 * (NODE.width + NODE.gapX);  // labels of other lines would lie on programs
    const name = svg('text', {y: -3});
    const figures = svg('text', {y: 10, class: 'figures'});
    const label = svg('g', {class: near ? 'edge-label near' : 'edge-label'}, svg('rect', {y: -14, height: 28, rx: 3}), name, figures);
    this.#edges.set(edge.id, {group, line, label, name, figures, edge});
    if (edge.topics.length === 0) {
      group.classList.add('unread');
      return group;
    }
    this.#focusable(group, edge.id, () => this.onopen(this.#edges.get(edge.id).edge.topics[0].topic.name));
    this.#showEdge(edge);
    return group;
  }

  #makeNode(node, {x, y}) {
    const title = svg('title');
    const name = svg('text', {x: 10, y: 15, class: 'name'});
    const below = svg('text', {x: 10, y: 29, class: 'pid'});
    const group = svg('g', {class: node.unread ? 'node unread' : 'node', tabindex: 0, role: 'button', transform: `translate(${x},${y})`},
      title, svg('rect', {width: NODE.width, height: NODE.height, rx: 5}), name, below);
    this.#nodes.set(node.id, {group, node, title, name, below});
    this.#focusable(group, node.id, node.unread ? () => this.onopen(this.#nodes.get(node.id).node.unread[0].name) : null);
    this.#showNode(node);
    return group;
  }

  #showNode(node) {
    const shown = this.#nodes.get(node.id);
    shown.node = node;
    const only = node.unread?.length === 1 ? node.unread[0].name : null;
    const name = node.unread ? only ?? `${node.unread.length} topics` : node.name;
    setText(shown.name, visible(name).slice(0, 22));
    setText(shown.below, node.unread ? 'no subscriber' : `process ${node.pid}`);
    setText(shown.title, node.unread ? `${visible(name, 500)}: no subscriber` : `${visible(name, 500)}, process ${node.pid}`);
  }

  #focusable(group, id, activate) {
    const focus = () => {
      this.#focus = id;
      this.#highlight();
      this.#showDetails();
    };
    group.addEventListener('mouseenter', focus);
    group.addEventListener('focus', focus);
    if (activate === null) return;
    group.addEventListener('click', activate);
    group.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') activate();
    });
  }

  #showEdge(edge) {
    if (edge.topics.length === 0) return;
    const shown = this.#edges.get(edge.id);
    shown.edge = edge;
    const total = edge.topics.reduce((sum, each) => sum + (each.subscription.rate ?? 0), 0);
    const kinds = [...new Set(edge.topics.map((each) => each.subscription.transport ?? 'no link'))];
    const name = edge.topics.length === 1 ? visible(edge.topics[0].topic.name, 28) : `${edge.topics.length} topics`;
    setText(shown.name, name);
    setText(shown.figures, `${kinds.join(' ')} ${rate(total)}`);
    shown.group.setAttribute('aria-label', `${name}, ${kinds.join(' ')}, ${rate(total)}`);
    shown.line.setAttribute('class', `line transport-${kinds.length === 1 ? kinds[0].replace(/\W/g, '-') : 'several'}`);
    shown.group.classList.toggle('quiet', total === 0);
    shown.group.classList.toggle('losing', edge.topics.some((each) => each.topic.missed_rate > 0));
  }

  // The edges of what is in focus, and what is at their other ends.
  #highlight() {
    const related = new Set();
    let lines = 0;
    for (const [id, {edge}] of this.#edges) {
      if (id === this.#focus || edge.from === this.#focus || edge.to === this.#focus) {
        related.add(id).add(edge.from).add(edge.to);
        lines += 1;
      }
    }
    if (this.#focus !== null) related.add(this.#focus);
    this.canvas.classList.toggle('focused', this.#focus !== null);
    this.canvas.classList.toggle('few', lines <= LABELS_IN_FOCUS);
    for (const [id, {group, label}] of this.#edges) {
      group.classList.toggle('related', related.has(id));
      label.classList.toggle('related', related.has(id));
    }
    for (const [id, {group}] of this.#nodes) group.classList.toggle('related', related.has(id));
  }

  #showDetails() {
    const lines = [];
    const topicLine = (topic, text) => h('li', {}, h('button', {type: 'button', class: 'link', onclick: () => this.onopen(topic.name)},
      h('bdi', {text: visible(topic.name)})), h('span', {class: 'dim', text: `  ${text}`}));
    const section = (title, topics, text) => {
      if (topics.length === 0) return;
      lines.push(h('h3', {text: `${title} (${topics.length})`}),
        h('ul', {}, ...topics.slice(0, LISTED).map((each) => topicLine(each.topic ?? each, text(each)))));
      if (topics.length > LISTED) lines.push(h('div', {class: 'dim', text: `and ${topics.length - LISTED} more`}));
    };
    const node = this.#nodes.get(this.#focus)?.node;
    const edge = this.#edges.get(this.#focus)?.edge;
    if (node?.unread) {
      section('Topics without a subscriber', node.unread, (topic) => `${rate(topic.rate)}, ${bandwidth(topic.bandwidth)}`);
    } else if (node) {
      lines.push(h('h2', {}, h('bdi', {text: visible(node.name)})),
        h('div', {class: 'dim', text: `process ${node.pid} on host ${hostName(node.host)}`, title: visible(node.host)}));
      section('Publishes', node.published, (topic) => `${rate(topic.rate)}, ${bandwidth(topic.bandwidth)}`);
      section('Subscribes', node.subscribed, (topic) => `from ${visible(topic.publisher?.name ?? 'no publisher', 60)}`);
    } else if (edge) {
      const name = (id) => visible(this.#nodes.get(id).node.name, 60);
      lines.push(h('h2', {}, h('bdi', {text: `${name(edge.from)} → ${name(edge.to)}`})));
      section('Topics', edge.topics, ({subscription}) => `${subscription.transport ?? 'no link'}, ${rate(subscription.rate)}` +
        (subscription.reason ? `. ${visible(subscription.reason)}` : ''));
    } else {
      lines.push(h('div', {class: 'dim', text: 'Point at a program or a line to see its topics. Click a line to open its topic.'}));
    }
    this.details.classList.toggle('described', this.#focus !== null);
    const used = this.details.contains(document.activeElement) || this.details.matches(':hover');
    if (used && this.#focus === this.#described) return;  // a new list would lose the keyboard's focus, or move under the pointer
    this.#described = this.#focus;
    this.details.replaceChildren(...lines);
  }
}
