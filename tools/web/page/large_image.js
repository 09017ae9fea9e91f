// The image of one opened topic, as large as the main area.

import {byId, setText} from './dom.js';
import {visible} from './text.js';

export class LargeImage {
  #panel = null;

  constructor() {
    this.area = byId('large-image');
    this.box = byId('large-image-box');
    byId('large-image-close').addEventListener('click', () => this.close());
  }

  get shown() {
    return this.#panel !== null;
  }

  toggle(panel) {
    const again = panel === this.#panel;
    this.close();
    if (again) return;
    this.#panel = panel;
    setText(byId('large-image-topic'), visible(panel.topic));
    this.box.append(panel.imageElement);
    this.#show(true);
  }

  close() {
    if (this.#panel === null) return;
    this.#panel.takeImageBack();
    this.#panel = null;
    this.#show(false);
  }

  // The panel, or its image, ends.
  forget(panel) {
    if (panel === this.#panel) this.close();
  }

  #show(shown) {
    this.area.hidden = !shown;
    document.body.classList.toggle('has-large-image', shown);
  }
}
