// Every page: the theme, copy buttons, the language of examples, the reader's values, and the search.
import { onOwnValues, ownValue, setOwnValue } from './own-values.js';
import { startSearch } from './search.js';

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The browser keeps no data for this page.
  }
}

function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function startTheme() {
  const button = document.getElementById('theme');
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const other = () => ((root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark');
  const name = () => {
    button.title = `Change to the ${other()} theme`;
    button.setAttribute('aria-label', button.title);
  };
  button.addEventListener('click', () => {
    root.dataset.theme = other();
    remember('theme', root.dataset.theme);
    name();
  });
  system.addEventListener('change', name);
  name();
  button.hidden = false;
}

async function copy(block, button) {
  // Without TLS a browser offers the clipboard on localhost only.
  if (navigator.clipboard === undefined) {
    getSelection().selectAllChildren(block);
    document.execCommand('copy');
  } else {
    await navigator.clipboard.writeText(block.textContent);
  }
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2_000);
}

function addCopyButtons() {
  for (const block of document.querySelectorAll('pre')) {
    const [frame, button] = ['div', 'button'].map((name) => document.createElement(name));
    frame.className = 'copies';
    if (block.dataset.tab !== undefined) frame.dataset.tab = block.dataset.tab;
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', () => copy(block.querySelector('code') ?? block, button));
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

/** A choice of a language applies to all blocks that have it, and to later pages. */
function startTabs() {
  const choose = (language) => {
    for (const choice of document.querySelectorAll('.tabs input')) if (choice.value === language) choice.checked = true;
  };
  const chosen = recall('language');
  if (chosen !== null) choose(chosen);
  document.addEventListener('change', ({ target }) => {
    if (!target.matches('.tabs input')) return;
    choose(target.value);
    remember('language', target.value);
  });
}

/** Until the reader gives a product, the examples name one that this shop sells. */
async function findProduct() {
  if (ownValue('productId') !== undefined || document.querySelector('[data-own=productId]') === null) return;
  const response = await fetch('/v1/products?inStock=true&fields=id&limit=1').catch(() => undefined);
  if (!response?.ok) return;
  const { items } = await response.json();
  if (items?.length > 0 && ownValue('productId') === undefined) setOwnValue('productId', items[0].id);
}

function showOwnValues() {
  const marks = [...document.querySelectorAll('[data-own]')].map((mark) => ({ mark, example: mark.textContent }));
  onOwnValues(() => {
    for (const { mark, example } of marks) mark.textContent = ownValue(mark.dataset.own) ?? example;
  });
}

// The reference was one page, with the operation in the fragment of the address.
const former = location.pathname === '/docs' ? /^#\/[^/]+\/(\w+)$/.exec(location.hash)?.[1] : undefined;
if (former !== undefined) {
  location.replace(`/docs/reference/${former.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
}
startTheme();
addCopyButtons();
startTabs();
showOwnValues();
startSearch();
await findProduct();
