// The services of all programs. Only with orc-web --allow-publish they can be called.

import {byId, h, setText} from './dom.js';
import {NamedRows} from './named_rows.js';
import {visible} from './text.js';

const LIMIT = 20000;  // characters of a reply that are shown

const typeText = (name, encoding) => (encoding === '' ? 'bytes' : `${visible(name || 'unnamed')} (${visible(encoding)})`);

// A reply, easier to read if it is JSON.
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Line ends and indentation stay.
const visibleLines = (text) => text.slice(0, LIMIT).split('\n').map((line) => visible(line, LIMIT)).join('\n') +
  (text.length > LIMIT ? `\n… (${text.length} characters)` : '');

class Row {
  #call = null;
  #service = null;

  constructor(view) {
    this.view = view;
    this.name = h('span', {class: 'name'});
    this.program = h('span', {class: 'program'});
    this.types = h('p', {class: 'about'});
    this.request = h('textarea', {rows: 4, spellcheck: 'false', 'aria-label': 'Request (JSON)',
      onkeydown: (event) => {
        if (event.key === 'Enter' && event.ctrlKey) this.#start();
      }});
    this.request.value = '{}';
    this.deadline = h('input', {type: 'number', min: '0.1', max: '3600', step: 'any', value: '10', 'aria-label': 'Deadline in seconds'});
    this.start = h('button', {type: 'button', class: 'primary', text: 'Call', title: 'Ctrl+Enter', onclick: () => this.#start()});
    this.cancel = h('button', {type: 'button', text: 'Cancel', disabled: true, onclick: () => this.#call?.send({op: 'cancel'})});
    this.feedback = h('pre', {class: 'feedback', hidden: true});
    this.result = h('pre', {class: 'result', hidden: true, role: 'status'});
    this.form = h('div', {class: 'form'}, h('label', {text: 'Request (JSON)'}), this.request,
      h('div', {class: 'buttons'}, h('label', {text: 'Deadline '}, this.deadline, ' s'), this.cancel, this.start));
    this.element = h('details', {class: 'control service', role: 'listitem'},
      h('summary', {}, this.name, this.program), this.types, this.form, this.feedback, this.result);
    this.allow();
  }

  text({name, server, request, reply, interfaces}) {
    return `${name} ${server.name} ${request} ${reply} ${interfaces.join(' ')}`;
  }

  show(service) {
    this.#service = service;
    setText(this.name, visible(service.name));
    setText(this.program, `${visible(service.server.name, 100)} (${service.server.pid})`);
    const lines = [`${typeText(service.request, service.request_encoding)} → ${typeText(service.reply, service.reply_encoding)}`];
    if (service.interfaces.length > 0) lines.push(`interfaces: ${service.interfaces.map((each) => visible(each)).join(', ')}`);
    setText(this.types, lines.join('\n'));
  }

  allow() {
    this.form.hidden = !this.view.mayControl;
  }

  #start() {
    if (this.#call) return;
    let value;
    try {
      value = JSON.parse(this.request.value);
    } catch (error) {
      this.#tell(`The request is not JSON: ${visible(error.message, 300)}.`, true);
      return;
    }
    const deadline = Number(this.deadline.value);
    if (!(deadline > 0 && deadline <= 3600)) {
      this.#tell('The deadline is above 0 and at most 3600 s.', true);
      return;
    }
    const began = performance.now();
    const end = (text, wrong) => {
      const call = this.#call;
      this.#call = null;
      call?.done();
      this.start.disabled = false;
      this.cancel.disabled = true;
      this.#tell(wrong ? text : `${text}\n\nafter ${(performance.now() - began).toFixed(0)} ms`, wrong);
    };
    this.start.disabled = true;
    this.cancel.disabled = false;
    this.feedback.hidden = true;
    this.#tell('Calling …', false);
    const call = this.view.connection.ask({op: 'call', name: this.#service.name, value, deadline}, {
      feedback: ({text}) => {
        this.feedback.hidden = false;
        setText(this.feedback, visibleLines(text));
      },
      reply: ({text}) => end(visibleLines(pretty(text)), false),
      error: ({message}) => end(visible(message, 2000), true),
      lost: () => end('The connection ended, which cancels the call.', true),
    });
    if (this.start.disabled) this.#call = call;
  }

  #tell(text, wrong) {
    this.result.hidden = text === '';
    setText(this.result, text);
    this.result.classList.toggle('wrong', wrong);
  }
}

export class ServicesView {
  mayControl = false;
  #rows;

  constructor(connection) {
    this.connection = connection;
    this.#rows = new NamedRows({
      list: byId('services-list'), empty: byId('services-empty'), filter: byId('services-filter'),
      none: 'No program has services.', make: () => new Row(this),
    });
    connection.addEventListener('hello', () => this.#rows.restart());
    connection.addEventListener('services', ({detail}) => this.#rows.change(detail));
  }

  allow(allowed) {
    this.mayControl = allowed;
    this.#rows.each((row) => row.allow());
  }
}
