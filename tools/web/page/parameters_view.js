// The parameters of all programs. Only with orc-web --allow-publish they can be set.

import {byId, h, setText, setTitle} from './dom.js';
import {NamedRows} from './named_rows.js';
import {visible} from './text.js';

const shownValue = (value) => (typeof value === 'string' ? visible(value, 300) : JSON.stringify(value));
const written = ({type, value}) => (type === 'text' ? value ?? '' : value === null ? '' : JSON.stringify(value));

// What was typed as a value of this parameter. Throws an Error for people.
function read({type}, text) {
  if (type === 'text') return text;
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`“${visible(text, 60)}” is not ${type === 'list' ? 'a list of numbers, such as [1, 2.5]' : 'a number'}.`);
  }
  if (type === 'int' && !Number.isSafeInteger(value)) throw new Error('Enter a whole number of at most 15 digits.');
  return value;
}

class Row {
  #parameter = null;
  #sent = null;  // what is being set

  constructor(view) {
    this.view = view;
    this.name = h('span', {class: 'name'});
    this.field = h('span', {class: 'field'});
    this.unit = h('span', {class: 'unit'});
    this.program = h('span', {class: 'program'});
    this.about = h('span', {class: 'about'});
    this.result = h('output', {class: 'result', hidden: true});
    this.element = h('div', {class: 'control parameter', role: 'listitem'}, this.name,
      h('span', {class: 'setting'}, this.field, this.unit), this.program, this.about, this.result);
  }

  text({name, value, owner, description}) {
    return `${name} ${JSON.stringify(value)} ${owner.name} ${description}`;
  }

  show(parameter) {
    this.#parameter = parameter;
    setText(this.name, visible(parameter.name));
    setText(this.unit, visible(parameter.unit, 32));
    setText(this.program, `${visible(parameter.owner.name, 100)} (${parameter.owner.pid})`);
    setTitle(this.program, `on host ${visible(parameter.owner.host)}`);
    const allowed = `${visible(parameter.allowed, 500)}${parameter.read_only ? ', read-only' : ''}`;
    setText(this.about, parameter.description ? `${visible(parameter.description, 1000)} (${allowed})` : allowed);
    this.#showField(this.view.mayControl && !parameter.read_only);
  }

  allow() {
    if (this.#parameter) this.show(this.#parameter);
  }

  #showField(editable) {
    const {type, choices, value} = this.#parameter;
    const options = type === 'bool' ? [true, false] : choices;
    const kind = !editable ? 'output' : options.length > 0 ? 'select' : 'input';
    if (this.input?.localName !== kind) {
      this.input = h(kind, kind === 'output' ? {} : {'aria-label': `Value of ${visible(this.#parameter.name)}`,
        autocomplete: 'off', spellcheck: 'false', onchange: () => this.#set(), onkeydown: (event) => this.#key(event)});
      this.field.replaceChildren(this.input);
    }
    if (kind === 'output') {
      setText(this.input, value === null ? '–' : shownValue(value));
      setTitle(this.input, value === null ? 'not known yet' : shownValue(value));
      return;
    }
    if (kind === 'select') {
      const texts = options.map((each) => JSON.stringify(each));
      if (this.input.texts?.join() !== texts.join()) {
        this.input.texts = texts;
        this.input.replaceChildren(...options.map((each, index) => h('option', {value: texts[index], text: shownValue(each)})));
      }
    }
    // What someone is typing stays.
    if (this.#sent === null && document.activeElement !== this.input) this.#revert();
    if (kind === 'select' && this.#sent === null) this.#revert();
  }

  #revert() {
    this.input.value = this.input.localName === 'select' ? JSON.stringify(this.#parameter.value) : written(this.#parameter);
  }

  #key(event) {
    if (event.key !== 'Escape') return;
    this.#revert();
    this.#tell('', false);
  }

  #set() {
    let value;
    try {
      value = this.input.localName === 'select' ? JSON.parse(this.input.value) : read(this.#parameter, this.input.value);
    } catch (error) {
      this.#tell(error.message, true);
      return;
    }
    const end = (text, wrong) => {
      if (this.#sent !== asked) return;  // another set came after it
      this.#sent = null;
      asked.done();
      this.#tell(text, wrong);
      if (wrong && document.activeElement !== this.input) this.#revert();
    };
    this.#tell('Setting …', false);
    const asked = {done: () => {}};
    this.#sent = asked;
    asked.done = this.view.connection.ask({op: 'set', name: this.#parameter.name, value}, {
      done: () => end('', false),
      error: ({message}) => end(visible(message, 1000), true),
      lost: () => end('The connection ended: nobody knows whether it is set.', true),
    }).done;
  }

  #tell(text, wrong) {
    this.result.hidden = text === '';
    setText(this.result, text);
    this.result.classList.toggle('wrong', wrong);
  }
}

export class ParametersView {
  mayControl = false;
  #rows;

  constructor(connection) {
    this.connection = connection;
    this.#rows = new NamedRows({
      list: byId('parameters-list'), empty: byId('parameters-empty'), filter: byId('parameters-filter'),
      none: 'No program has parameters.', make: () => new Row(this),
    });
    connection.addEventListener('hello', () => this.#rows.restart());
    connection.addEventListener('parameters', ({detail}) => this.#rows.change(detail));
  }

  allow(allowed) {
    this.mayControl = allowed;
    this.#rows.each((row) => row.allow());
  }
}
