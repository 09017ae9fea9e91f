// What is open, kept in the address behind '#': a reload, or a link, shows the same.
//
// A page shown with state: {view, filter, sort, window, topics: [{name, image}], plots: [[{topic, path}]]}

export const VIEWS = ['topics', 'graph', 'plots', 'opened', 'parameters', 'services'];
const LIMIT = 200;  // things that a link can open

export function write(state) {
  const to = new URLSearchParams();
  if (state.view !== 'topics') to.set('view', state.view);
  if (state.filter) to.set('filter', state.filter);
  if (state.sort !== 'topic') to.set('sort', state.sort);
  if (state.window !== 10) to.set('window', state.window);
  for (const {name, image} of state.topics) to.append(image ? 'image' : 'topic', name);
  for (const fields of state.plots) to.append('plot', JSON.stringify(fields.map(({topic, path}) => [topic, path])));
  const text = to.toString();
  if (text !== location.hash.slice(1)) history.replaceState(null, '', text === '' ? location.pathname : `#${text}`);
}

function plotOf(text) {
  try {
    const fields = JSON.parse(text);
    return fields.map(([topic, path]) => ({topic: String(topic), path: String(path)}));
  } catch {
    return [];  // typed by hand
  }
}

export function read() {
  const from = new URLSearchParams(location.hash.slice(1));
  const view = from.get('view');
  const topics = [...from].filter(([key]) => key === 'topic' || key === 'image');
  return {
    view: VIEWS.includes(view) ? view : 'topics',
    filter: from.get('filter') ?? '',
    sort: from.get('sort') ?? 'topic',
    window: Number(from.get('window') ?? 10),
    topics: topics.slice(0, LIMIT).map(([key, name]) => ({name, image: key === 'image'})),
    plots: from.getAll('plot').slice(0, LIMIT).map(plotOf),
  };
}
