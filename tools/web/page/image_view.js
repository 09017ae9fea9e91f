// The newest image of a topic in a canvas. The server sends the next one when this one is drawn.

import {h, setText} from './dom.js';
import {now} from './server_time.js';
import {clock, duration, rate, visible} from './text.js';

const MIME = {1: 'image/jpeg', 2: 'image/png'};
const LARGEST = 16384;

async function decoded(image) {
  if (image.format === 0) {
    const bytes = image.width * image.height * 4;
    if (bytes === 0 || image.width > LARGEST || image.height > LARGEST || image.bytes.byteLength !== bytes) {
      throw new Error(`${image.width}×${image.height} pixels do not fit ${image.bytes.byteLength} bytes`);
    }
    const pixels = new Uint8ClampedArray(image.bytes.buffer, image.bytes.byteOffset, bytes);
    return new ImageData(pixels, image.width, image.height);
  }
  if (!(image.format in MIME)) throw new Error(`unknown image format ${image.format}`);
  return createImageBitmap(new Blob([image.bytes], {type: MIME[image.format]}));
}

export class ImageView {
  #handle;
  #drawn = [];  // when, the last second
  #stamp = null;

  // `onclick()`: the user wants to see it larger, or smaller again.
  constructor(connection, topic, onclick) {
    this.canvas = h('canvas', {width: 1, height: 1, role: 'img', 'aria-label': `Image of ${visible(topic)}`});
    this.picture = h('button', {type: 'button', class: 'picture', title: 'Larger or smaller', onclick}, this.canvas);
    this.caption = h('div', {class: 'caption', text: 'Waiting for an image.'});
    this.element = h('div', {class: 'image'}, this.picture, this.caption);
    this.picture.hidden = true;
    this.#handle = connection.open({op: 'image', topic}, {
      image: (image) => this.#show(image),
      error: (message) => this.#note(visible(message.message, 300)),
      topic: (message) => {
        if (message.state === 'waiting') this.picture.hidden = true;
        if (message.state !== 'up' && message.message) this.#note(visible(message.message, 300));
      },
    });
  }

  close() {
    this.#handle.close();
    this.element.remove();
  }

  tick() {
    if (this.#stamp === null) return;
    const recent = performance.now() - 1000;
    this.#drawn = this.#drawn.filter((each) => each > recent);
    const age = now() - Number(this.#stamp) / 1e9;
    setText(this.caption, `${this.canvas.width} × ${this.canvas.height}   ${clock(this.#stamp)}   ` +
      (this.#drawn.length > 1 ? `${rate(this.#drawn.length)}` : `${duration(Math.max(0, age))} old`));
  }

  // A sample came that cannot hold one.
  noImage() {
    if (this.#stamp === null) this.#note('This type has no image.');
  }

  #note(text) {
    this.#stamp = null;
    setText(this.caption, text);
  }

  async #show(image) {
    let picture = null;
    let problem = '';
    try {
      picture = await decoded(image);
    } catch (error) {
      problem = `This image cannot be shown: ${visible(error.message, 200)}`;
    }
    requestAnimationFrame(() => {
      if (picture) this.#draw(picture, image.stamp);
      else this.#note(problem);
      this.#handle.send({op: 'shown'});
    });
  }

  #draw(picture, stamp) {
    if (this.canvas.width !== picture.width) this.canvas.width = picture.width;
    if (this.canvas.height !== picture.height) this.canvas.height = picture.height;
    this.picture.hidden = false;
    const context = this.canvas.getContext('2d');
    if (picture instanceof ImageData) context.putImageData(picture, 0, 0);
    else {
      context.clearRect(0, 0, picture.width, picture.height);
      context.drawImage(picture, 0, 0);
      picture.close();
    }
    this.#stamp = stamp;
    this.#drawn.push(performance.now());
    this.element.dispatchEvent(new CustomEvent('orc:drawn', {bubbles: true, detail: {stamp: String(stamp)}}));
  }
}

// The bytes of a JPEG or PNG file.
function isFile(tree) {
  if (tree.k === 'bytes') return /^(ffd8ff|89504e47)/.test(tree.v);
  if (tree.k !== 'array') return false;
  const begin = tree.i.slice(0, 4).map((each) => each.v).join(' ');
  return begin.startsWith('255 216 255') || begin === '137 80 78 71';
}

// Whether a decoded sample looks like an image: it is shown as one without being asked.
export function looksLikeImage(tree) {
  if (tree.k !== 'object') return isFile(tree);
  const fields = new Map(tree.f);
  const has = (name) => fields.has(name);
  if (!has('data')) return false;
  return (has('width') && has('height') && has('encoding')) || (has('format') && isFile(fields.get('data')));
}

// Whether the server may find an image in it.
export function canBeImage(tree) {
  if (tree.k !== 'object') return isFile(tree);
  const fields = new Map(tree.f);
  const data = fields.get('data');
  if (data === undefined) return false;
  const rows = data.k === 'array' && data.i[0]?.k === 'array';
  return isFile(data) || rows || (fields.has('width') && fields.has('height'));
}
