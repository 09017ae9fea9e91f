// The bar between the main area and the opened topics: drag it, or use the arrow keys. The width is kept in the browser.

import {byId} from './dom.js';

const KEY = 'orc.opened-width';
const USUAL = 392;
const SMALLEST = 280;
const MAIN_SMALLEST = 320;  // what is left for the main area
const STEP = 24;

function stored() {
  try {
    return Number(localStorage.getItem(KEY)) || USUAL;
  } catch {
    return USUAL;  // a browser that keeps nothing
  }
}

export function startSplitter() {
  const bar = byId('splitter');
  let wanted = stored();
  const apply = () => {
    const width = Math.max(SMALLEST, Math.min(wanted, innerWidth - MAIN_SMALLEST));
    document.documentElement.style.setProperty('--opened-width', `${width}px`);
    bar.setAttribute('aria-valuenow', String(Math.round(width)));
    return width;
  };
  const set = (width) => {
    wanted = width;
    wanted = apply();
    try {
      localStorage.setItem(KEY, String(Math.round(wanted)));
    } catch {
      // it holds until the page is closed
    }
  };
  bar.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
  });
  bar.addEventListener('pointermove', (event) => {
    if (bar.hasPointerCapture(event.pointerId)) set(innerWidth - event.clientX);
  });
  bar.addEventListener('dblclick', () => set(USUAL));
  bar.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: STEP, ArrowRight: -STEP}[event.key];
    if (!step) return;
    event.preventDefault();
    set(apply() + step);
  });
  addEventListener('resize', apply);
  apply();
}
