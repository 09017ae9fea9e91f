// Sends samples on a topic that no other program publishes. Only with orc-web --allow-publish.

import {byId, h, setText} from './dom.js';
import {visible} from './text.js';

// As the server writes names.
const quoted = (name) => `'${visible(name, 200)}'`;
const named = (path) => (path === '' ? 'the sample' : `field ${quoted(path)}`);

// The JSON that the server reads back into the same sample. Throws an Error that says which field has no JSON.
function jsonOf(tree, path = '') {
  switch (tree.k) {
    case 'object': {
      return Object.fromEntries(tree.f.map(([name, value]) => [name, jsonOf(value, path === '' ? name : `${path}.${name}`)]));
    }
    case 'array': {
      if (tree.i.length < tree.n) throw new Error(`${named(path)} has ${tree.n} elements; the page has only the first ${tree.i.length}`);
      return tree.i.map((value, index) => jsonOf(value, `${path}[${index}]`));
    }
    case 'bytes': throw new Error(`${named(path)} holds bytes, which have no JSON`);
    case 'string':
      if (tree.n !== undefined) throw new Error(`${named(path)} is too long; the page has only its beginning`);
      return tree.v;
    case 'null': return null;
    default: return tree.v;
  }
}

export class PublishForm {
  #connection;
  #own = new Set();  // topics that this page publishes
  #fill = null;  // the opened topic whose newest sample fills the form

  constructor(connection) {
    this.#connection = connection;
    this.dialog = byId('publish');
    this.name = byId('publish-topic');
    this.like = byId('publish-like');
    this.value = byId('publish-value');
    this.result = byId('publish-result');
    byId('publish-open').addEventListener('click', () => this.dialog.showModal());
    byId('publish-close').addEventListener('click', () => this.dialog.close());
    byId('publish-fill').addEventListener('click', () => this.#fillIn());
    byId('publish-send').addEventListener('click', () => this.#send());
    this.dialog.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.target.tagName === 'INPUT')) {
        event.preventDefault();
        this.#send();
      }
    });
    this.dialog.addEventListener('close', () => this.#stopFilling());
    connection.addEventListener('published', ({detail}) => {
      this.#tell(`Sent on ${quoted(detail.topic)}.`, false);
      this.#own.add(detail.topic);
      this.#showOwn();
    });
    connection.addEventListener('error', ({detail}) => {
      if (detail?.about === 'publish') this.#tell(visible(detail.message, 1000), true);
    });
  }

  // The topics of a connection end with it.
  allow(allowed) {
    this.#own.clear();
    this.#showOwn();
    byId('publish-open').hidden = !allowed;
    if (!allowed && this.dialog.open) this.dialog.close();
  }

  update(topics) {
    if (!this.dialog.open) return;
    const list = byId('publish-topics');
    const names = topics.filter((topic) => topic.type).slice(0, 500).map((topic) => topic.name);
    if (list.childElementCount !== names.length) list.replaceChildren(...names.map((name) => h('option', {value: name})));
  }

  #send() {
    if (this.name.value === '') {
      this.#tell('Enter the name of the topic.', true);
      this.name.focus();
      return;
    }
    if (this.value.value.trim() === '') {
      this.#tell('Enter a value as JSON, for example {"x": 1.5}.', true);
      this.value.focus();
      return;
    }
    let value;
    try {
      value = JSON.parse(this.value.value);
    } catch (error) {
      this.#tell(`The value is not JSON: ${visible(error.message, 300)}.`, true);
      return;
    }
    if (!this.#connection.connected) {
      this.#tell('There is no connection to orc web now.', true);
      return;
    }
    const like = this.like.value === '' ? {} : {like: this.like.value};
    this.#tell('Sending …', false);
    this.#connection.command({op: 'publish', topic: this.name.value, value, keep: byId('publish-keep').checked, ...like});
  }

  #showOwn() {
    const list = byId('publish-own');
    list.hidden = this.#own.size === 0;
    list.replaceChildren(...[...this.#own].map((topic) => {
      const end = h('button', {type: 'button', title: 'End this topic', text: 'End', onclick: () => this.#end(topic)});
      return h('li', {}, h('span', {text: visible(topic, 200)}), end);
    }));
  }

  #end(topic) {
    this.#connection.command({op: 'unpublish', topic});
    this.#own.delete(topic);
    this.#showOwn();
    this.#tell(`Ended ${quoted(topic)}.`, false);
  }

  #fillIn() {
    this.#stopFilling();
    if (this.like.value === '') {
      this.#tell('First enter a topic in “Same type as topic”.', true);
      return;
    }
    this.#tell(`Waiting for a sample of ${quoted(this.like.value)} …`, false);
    this.#fill = this.#connection.open({op: 'open', topic: this.like.value}, {
      sample: (sample) => {
        this.#stopFilling();
        try {
          this.value.value = JSON.stringify(jsonOf(sample.tree), null, 2);
          this.#tell('', false);
        } catch (error) {
          this.#tell(`The sample cannot be filled in: ${error.message}.`, true);
        }
      },
      error: (message) => this.#tell(visible(message.message, 1000), true),
    });
  }

  #stopFilling() {
    this.#fill?.close();
    this.#fill = null;
  }

  #tell(text, wrong) {
    setText(this.result, text);
    this.result.classList.toggle('wrong', wrong);
  }
}
