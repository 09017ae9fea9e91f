// Where the nodes of a graph go: layers from left to right along the flow of samples, in one band per host.

export const NODE = {width: 140, height: 36, gapX: 112, gapY: 36};
const BAND = {head: 26, pad: 18, gap: 14};
const ROUNDS = 6;

// Layer of each node: the longest way to it from a source. Edges that close a circle do not count.
function layersOf(nodes, edges) {
  const out = new Map(nodes.map((node) => [node.id, []]));
  for (const edge of edges) if (edge.from !== edge.to) out.get(edge.from).push(edge.to);
  const state = new Map();
  const order = [];
  const kept = new Map(nodes.map((node) => [node.id, []]));
  const visit = (start) => {  // depth first, without recursion: a chain may be long
    const stack = [[start, 0]];
    state.set(start, 'open');
    while (stack.length > 0) {
      const top = stack.at(-1);
      const [id, at] = top;
      const next = out.get(id)[at];
      if (next === undefined) {
        state.set(id, 'done');
        order.push(id);
        stack.pop();
        continue;
      }
      top[1] += 1;
      if (state.get(next) === 'open') continue;
      kept.get(id).push(next);
      if (!state.has(next)) {
        state.set(next, 'open');
        stack.push([next, 0]);
      }
    }
  };
  const into = new Map(nodes.map((node) => [node.id, 0]));
  for (const targets of out.values()) for (const to of targets) into.set(to, into.get(to) + 1);
  for (const node of [...nodes].sort((a, b) => into.get(a.id) - into.get(b.id))) if (!state.has(node.id)) visit(node.id);
  const layer = new Map(nodes.map((node) => [node.id, 0]));
  for (const id of order.reverse()) {
    for (const to of kept.get(id)) layer.set(to, Math.max(layer.get(to), layer.get(id) + 1));
  }
  // A circle of many programs would become one long row.
  const most = Math.min(7, Math.max(4, Math.ceil(Math.sqrt(nodes.length * 3.6))));
  const last = Math.max(...layer.values(), 0);
  if (last >= most) for (const [id, at] of layer) layer.set(id, Math.floor((at * most) / (last + 1)));
  return layer;
}

// nodes: [{id, host, …}], edges: [{from, to, …}]. Returns {nodes: Map id -> {x, y}, bands: [{host, x, y, width, height}],
// width, height}. The same graph gets the same picture.
export function layout(nodes, edges) {
  const sorted = [...nodes].sort((a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : a.id < b.id ? -1 : 1));
  const layer = layersOf(sorted, edges);
  const hosts = [...new Set(sorted.map((node) => node.host))];
  const neighbours = new Map(sorted.map((node) => [node.id, []]));
  for (const edge of edges) {
    if (edge.from === edge.to) continue;
    neighbours.get(edge.from).push(edge.to);
    neighbours.get(edge.to).push(edge.from);
  }
  // cells.get(host)[layer]: the nodes of that column, from top to bottom
  const cells = new Map(hosts.map((host) => [host, []]));
  for (const node of sorted) {
    const columns = cells.get(node.host);
    (columns[layer.get(node.id)] ??= []).push(node.id);
  }
  const place = new Map();
  const number = () => {
    let base = 0;
    for (const host of hosts) {
      const columns = cells.get(host);
      let rows = 0;
      for (const column of columns) {
        if (!column) continue;
        rows = Math.max(rows, column.length);
      }
      for (const column of columns) column?.forEach((id, row) => place.set(id, base + row + (rows - column.length) / 2));
      base += rows + 1;
    }
  };
  number();
  for (let round = 0; round < ROUNDS; round += 1) {  // each node towards the middle of its neighbours
    const middle = new Map(sorted.map(({id}) => {
      const around = neighbours.get(id);
      return [id, around.length === 0 ? place.get(id) : around.reduce((sum, each) => sum + place.get(each), 0) / around.length];
    }));
    for (const columns of cells.values()) {
      for (const column of columns) column?.sort((a, b) => middle.get(a) - middle.get(b) || place.get(a) - place.get(b));
    }
    number();
  }
  return positions(hosts, cells);
}

function positions(hosts, cells) {
  const stepX = NODE.width + NODE.gapX;
  const stepY = NODE.height + NODE.gapY;
  const layers = Math.max(1, ...[...cells.values()].map((columns) => columns.length));
  const width = layers * stepX - NODE.gapX + 2 * BAND.pad;
  const placed = new Map();
  const bands = [];
  let y = 0;
  for (const host of hosts) {
    const columns = cells.get(host);
    const rows = Math.max(...Array.from(columns, (column) => column?.length ?? 0));
    const height = BAND.head + rows * stepY - NODE.gapY + BAND.pad;
    columns.forEach((column, index) => column?.forEach((id, row) => {
      placed.set(id, {
        x: BAND.pad + index * stepX,
        y: y + BAND.head + (row + (rows - column.length) / 2) * stepY,
      });
    }));
    bands.push({host, x: 0, y, width, height});
    y += height + BAND.gap;
  }
  return {nodes: placed, bands, width, height: Math.max(0, y - BAND.gap)};
}
