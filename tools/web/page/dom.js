// Builds elements. Text goes in as text nodes only: nothing here, or anywhere in this page, parses HTML.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'text') element.textContent = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// h('button', {class: 'small', text: 'Close', onclick: close})
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

// Changes a text only when it differs: an unchanged text costs no layout.
export function setText(element, text) {
  if (element.lastText !== text) {
    element.lastText = text;
    element.textContent = text;
  }
}

export function setTitle(element, text) {
  if (element.title !== text) element.title = text;
}

export function byId(id) {
  return document.getElementById(id);
}
