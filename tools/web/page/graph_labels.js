// Where the labels of a graph's lines go: on their line, and beside other labels and programs.

import {NODE} from './graph_layout.js';

const PLACES = [0.55, 0.65, 0.45, 0.75, 0.35, 0.25];  // of the length of the line
const PAD = 4;

const overlap = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
                          Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

// `edges`: [{line, label}], both in the document; `nodes`: [{x, y}]. Each label takes the place where it covers least.
export function placeLabels(edges, nodes) {
  const taken = nodes.map(({x, y}) => ({left: x, top: y, right: x + NODE.width, bottom: y + NODE.height}));
  for (const {line, label} of edges) {
    const back = label.querySelector('rect');
    const width = Math.max(...[...label.querySelectorAll('text')].map((text) => text.getComputedTextLength())) + 2 * PAD;
    const height = Number(back.getAttribute('height'));
    const length = line.getTotalLength();
    let best = null;
    for (const place of PLACES) {
      const {x, y} = line.getPointAtLength(length * place);
      const box = {left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2, x, y};
      box.covers = taken.reduce((sum, each) => sum + overlap(box, each), 0);
      if (best === null || box.covers < best.covers - 1) best = box;
      if (best.covers === 0) break;
    }
    taken.push(best);
    back.setAttribute('x', String(-width / 2));
    back.setAttribute('width', String(width));
    label.setAttribute('transform', `translate(${best.x},${best.y})`);
  }
}
