// Light or dark: as the system says, or as the user chose here.

import {byId} from './dom.js';

const KEY = 'orc.theme';
const NEXT = {auto: 'light', light: 'dark', dark: 'auto'};
const NAMES = {auto: ['◐', 'as the system'], light: ['☀', 'light'], dark: ['☾', 'dark']};

function stored() {
  try {
    const found = localStorage.getItem(KEY);
    return found in NEXT ? found : 'auto';
  } catch {
    return 'auto';  // a browser that keeps nothing
  }
}

// Calls `onchange` when colours are others.
export function startTheme(onchange) {
  let theme = stored();
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => {
    document.documentElement.dataset.theme = theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme;
    const [sign, name] = NAMES[theme];
    byId('theme').textContent = sign;
    byId('theme').title = `Colours: ${name}`;
    byId('theme').setAttribute('aria-label', byId('theme').title);
    onchange();
  };
  byId('theme').addEventListener('click', () => {
    theme = NEXT[theme];
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // it holds until the page is closed
    }
    apply();
  });
  dark.addEventListener('change', apply);
  apply();
}
