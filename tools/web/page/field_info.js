// Units of plotted fields, and the names of their enum values. Plots get bare numbers from the server; a sample of the
// topic has the rest, so one is fetched when something is not known yet.

const ASK_AGAIN_MS = 1000;
const NAMES_MAX = 1000;

// The node of a path such as "arm.q[3]" in the tree of a sample. Long arrays are cut: `alike` is then set, and the node
// is another element.
function nodeAt(tree, path) {
  let node = tree;
  let alike = false;
  for (const [part, index] of path.matchAll(/\[(\d+)\]|[^.[\]]+/g)) {
    if (index === undefined) node = node?.k === 'object' ? node.f.find(([name]) => name === part)?.[1] : undefined;
    else if (node?.k !== 'array') return {};
    else {
      alike ||= Number(index) >= node.i.length;
      node = node.i[Number(index)] ?? node.i[0];
    }
  }
  return {node, alike};
}

export class FieldInfo {
  #connection;
  #topics = new Map();  // name -> {fields: Map path -> info, handle, asked}

  constructor(connection) {
    this.#connection = connection;
  }

  // {unit, enumerated, names: Map number -> name}, which fills itself when a sample comes. A `value` of an enum that has
  // no name yet lets it look again.
  of(topic, path, value) {
    if (!this.#topics.has(topic)) this.#topics.set(topic, {fields: new Map(), handle: null, asked: -Infinity});
    const {fields} = this.#topics.get(topic);
    if (!fields.has(path)) fields.set(path, {unit: '', enumerated: false, names: new Map(), known: false});
    const info = fields.get(path);
    const nameless = info.enumerated && Number.isInteger(value) && !info.names.has(value);
    if (!info.known || nameless) this.#ask(topic);
    return info;
  }

  #ask(name) {
    const topic = this.#topics.get(name);
    if (topic.handle !== null || performance.now() - topic.asked < ASK_AGAIN_MS) return;
    topic.asked = performance.now();
    const end = () => {
      topic.handle.close();
      topic.handle = null;
    };
    topic.handle = this.#connection.open({op: 'open', topic: name}, {
      sample: (sample) => {
        for (const [path, info] of topic.fields) this.#learn(info, sample.tree, path);
        end();
      },
      error: end,
    });
  }

  #learn(info, tree, path) {
    const {node, alike} = nodeAt(tree, path);
    info.known = true;
    info.unit = node?.u ?? '';
    info.enumerated ||= node?.k === 'enum';
    if (node?.k === 'enum' && !alike && info.names.size < NAMES_MAX) info.names.set(Number(node.n), node.v);
  }
}
