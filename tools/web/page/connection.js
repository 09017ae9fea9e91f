// The WebSocket to orc-web. It comes back by itself, and opens again what was open.

const SUBPROTOCOL = 'orc.web.v1';
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;
const SILENT_MS = 5000;  // then it asks whether the server is still there
const DEAD_MS = 15000;   // then it connects again
const MESSAGES_PER_SECOND = 120;  // the server closes connections that send more than 200
const LARGE = 400000;             // characters of a message that a worker reads
const PLOT_HEADER = 16;
const IMAGE_HEADER = 24;

export class Connection extends EventTarget {
  #url;
  #socket = null;
  #pause = FIRST_PAUSE_MS;
  #things = new Map();  // id -> {request, listener}
  #asks = new Map();    // id -> listener
  #nextId = 1;
  #waiting = [];        // texts to send
  #budget = MESSAGES_PER_SECOND;
  #budgetAt = performance.now();
  #sendTimer = 0;
  #heard = 0;
  #asked = false;
  #shown = new Set();   // what is switched on
  #worker = null;
  #working = false;
  #next = null;         // the newest large message, while the worker has another one
  #topics = [];         // those that the worker has read

  constructor(url) {
    super();
    this.#url = url;
    setInterval(() => this.#checkLife(), 1000);
  }

  start() {
    const socket = new WebSocket(this.#url, SUBPROTOCOL);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    this.#heard = performance.now();
    socket.onopen = () => this.#opened();
    socket.onmessage = (event) => {
      this.#heard = performance.now();
      this.#asked = false;
      if (typeof event.data === 'string') this.#text(event.data);
      else this.#binary(event.data);
    };
    socket.onclose = (event) => this.#closed(socket, event);
  }

  get connected() {
    return this.#socket !== null && this.#socket.readyState === WebSocket.OPEN;
  }

  // `listener` has a function for each answer that it wants: sample, topic, error (messages); plot, image (see
  // #binary). Returns what closes it again.
  open(request, listener) {
    const id = this.#nextId++;
    const thing = {request: {...request, id}, listener};
    this.#things.set(id, thing);
    this.#send(thing.request);
    return {
      id,
      send: (message) => this.#send({...message, id}),
      // Changes what is asked for when the connection comes back.
      change: (fields) => Object.assign(thing.request, fields),
      close: () => {
        if (this.#things.delete(id)) this.#send({op: 'close', id});
      },
    };
  }

  // Switches 'system', 'parameters' or 'services' on. Their messages are events.
  show(what) {
    if (this.#shown.has(what)) return;
    this.#shown.add(what);
    this.#send({op: what, on: true});
  }

  // Asks once: not again when the connection comes back. `listener` has a function for each answer that it wants, and
  // lost(): the connection ended before the last answer. Returns what sends messages about it, and forgets it.
  ask(request, listener) {
    const id = this.#nextId++;
    if (this.connected) {
      this.#asks.set(id, listener);
      this.#send({...request, id});
    } else {
      listener.lost();
    }
    return {send: (message) => this.#send({...message, id}), done: () => this.#asks.delete(id)};
  }

  // A message about nothing that is open: publish, play, pause, seek, rate. Lost while there is no connection.
  command(message) {
    this.#send(message);
  }

  #opened() {
    this.#waiting = [];
    this.#budget = MESSAGES_PER_SECOND;
    for (const op of this.#shown) this.#send({op, on: true});
    for (const thing of this.#things.values()) this.#send(thing.request);
    this.dispatchEvent(new Event('open'));
  }

  #closed(socket, event) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#waiting = [];
    const lost = [...this.#asks.values()];
    this.#asks.clear();
    for (const listener of lost) listener.lost();
    this.dispatchEvent(new CustomEvent('closed', {detail: {reason: event.reason}}));
    setTimeout(() => this.start(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }

  #checkLife() {
    if (!this.connected) return;
    const silent = performance.now() - this.#heard;
    if (silent > DEAD_MS && this.#asked) {
      const socket = this.#socket;
      socket.close();
      this.#closed(socket, {reason: ''});  // a dead peer never answers the close
    } else if (silent > SILENT_MS && !this.#asked) {
      this.#asked = true;
      this.#heard = Math.max(this.#heard, performance.now() - SILENT_MS);  // a tab that slept gives it its time
      this.#send({op: 'ping'});
    }
  }

  #send(message) {
    if (!this.connected) return;
    this.#waiting.push(JSON.stringify(message));
    this.#flush();
  }

  #flush() {
    const now = performance.now();
    this.#budget = Math.min(MESSAGES_PER_SECOND, this.#budget + ((now - this.#budgetAt) / 1000) * MESSAGES_PER_SECOND);
    this.#budgetAt = now;
    while (this.#waiting.length > 0 && this.#budget >= 1 && this.connected) {
      this.#budget -= 1;
      this.#socket.send(this.#waiting.shift());
    }
    if (this.#waiting.length > 0 && !this.#sendTimer) {
      this.#sendTimer = setTimeout(() => {
        this.#sendTimer = 0;
        this.#flush();
      }, 20);
    }
  }

  #text(data) {
    this.#pause = FIRST_PAUSE_MS;
    if (data.length > LARGE && data.slice(0, 40).includes('"system"')) this.#readLarge(data);
    else this.#deliver(JSON.parse(data));
  }

  #readLarge(data) {
    if (this.#working) {
      this.#next = data;
      return;
    }
    this.#working = true;
    if (this.#worker === null) {
      this.#worker = new Worker('parse_worker.js');
      this.#worker.onmessage = ({data: part}) => this.#readPart(part);
    }
    this.#worker.postMessage(data);
  }

  #readPart(part) {
    if (part.topics) {
      this.#topics.push(...part.topics);
      return;
    }
    const message = {...part.message, topics: this.#topics};
    this.#topics = [];
    this.#working = false;
    const next = this.#next;
    this.#next = null;
    if (next !== null) this.#readLarge(next);
    this.#deliver(message);
  }

  #deliver(message) {
    if (message.id !== undefined && message.id !== null) {
      const listener = this.#things.get(message.id)?.listener ?? this.#asks.get(message.id);
      listener?.[message.op]?.(message);
    } else {
      this.dispatchEvent(new CustomEvent(message.op, {detail: message}));
    }
  }

  #binary(buffer) {
    const view = new DataView(buffer);
    if (buffer.byteLength < PLOT_HEADER) return;
    const listener = this.#things.get(view.getUint32(4, true))?.listener;
    if (!listener) return;  // closed a moment ago
    const kind = view.getUint8(0);
    if (kind === 1) {
      const points = view.getUint32(8, true);
      if (buffer.byteLength < PLOT_HEADER + points * 24) return;
      listener.plot?.((view.getUint8(1) & 1) !== 0, new Float64Array(buffer, PLOT_HEADER, points * 3));
    } else if (kind === 2 && buffer.byteLength >= IMAGE_HEADER) {
      listener.image?.({
        format: view.getUint8(1),
        width: view.getUint32(8, true),
        height: view.getUint32(12, true),
        stamp: view.getBigUint64(16, true),
        bytes: new Uint8Array(buffer, IMAGE_HEADER),
      });
    }
  }
}
