// The search of the documentation: a dialog, opened by its button, Ctrl-K or `/`. The texts are loaded when it opens.
const dialog = document.getElementById('search');
const field = document.getElementById('search-for');
const list = document.getElementById('found');
const count = document.getElementById('found-count');
const most = 20;
let search;

/** Resolves with the function that searches. A failure is forgotten, so that the next attempt loads again. */
async function load() {
  search ??= Promise.all([
    import('./search-engine.js'),
    import('./minisearch.js'),
    fetch('/docs/search.json').then((response) => (response.ok ? response.json() : Promise.reject(response.status))),
  ]).then(([{ createSearch }, { default: MiniSearch }, entries]) => createSearch(MiniSearch, entries));
  return search.catch((error) => {
    search = undefined;
    throw error;
  });
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** The words of a text that begin with one of the terms. */
function* foundWords(text, terms) {
  for (const found of text.matchAll(/[a-z\d]+/gi)) {
    const word = found[0].toLowerCase();
    if (terms.some((term) => word.startsWith(term))) yield found;
  }
}

/** A text whose found words are marked. */
function marked(text, terms) {
  const parts = [];
  let end = 0;
  for (const { 0: word, index } of foundWords(text, terms)) {
    parts.push(text.slice(end, index), element('mark', {}, word));
    end = index + word.length;
  }
  return [...parts, text.slice(end)];
}

/** The part of a text around the first of the words. */
function excerpt(text, terms) {
  const { index = -1 } = foundWords(text, terms).next().value ?? {};
  const start = index < 60 ? 0 : text.indexOf(' ', index - 60) + 1;
  return `${start === 0 ? '' : '… '}${text.slice(start, start + 180)}`;
}

function resultOf({ id, title, page, text, terms }) {
  return element(
    'li',
    {},
    element(
      'a',
      { href: id },
      element('strong', {}, ...marked(title, terms)),
      element('small', {}, page),
      element('span', {}, ...marked(excerpt(text, terms), terms)),
    ),
  );
}

async function show() {
  const query = field.value.trim();
  let found = [];
  let says = '';
  try {
    found = query === '' ? [] : (await load())(query);
    if (query !== '') says = found.length === 0 ? `Nothing found for “${query}”.` : `${found.length} found`;
  } catch {
    says = 'The search could not be loaded. Try again.';
  }
  // The reader has typed on while the texts were loaded.
  if (query !== field.value.trim()) return;
  count.textContent = says;
  list.replaceChildren(...found.slice(0, most).map(resultOf));
  list.scrollTop = 0;
}

/** Moves the focus between the field and the results. */
function move(event, step) {
  const stops = [field, ...list.querySelectorAll('a')];
  const next = stops[stops.indexOf(document.activeElement) + step];
  event.preventDefault();
  next?.focus();
}

function open() {
  if (dialog.open) return;
  dialog.showModal();
  field.select();
  load().catch(() => {});
}

/** Makes the search work. */
export function startSearch() {
  if (dialog === null) return;
  const button = document.getElementById('open-search');
  button.querySelector('kbd').textContent = /Mac|iP/.test(navigator.platform) ? '⌘ K' : 'Ctrl K';
  button.hidden = false;
  button.addEventListener('click', open);
  field.addEventListener('input', show);
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') move(event, 1);
    else if (event.key === 'ArrowUp') move(event, -1);
    else if (event.key === 'Enter' && event.target === field) list.querySelector('a')?.click();
    else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && list.contains(event.target)) field.focus();
  });
  dialog.addEventListener('click', ({ target }) => {
    // A click beside the dialog, on its button, or on a result, which may be on this page.
    if (target === dialog || target.closest('#close-search, a') !== null) dialog.close();
  });
  document.addEventListener('keydown', (event) => {
    const isShortcut = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
    const isSlash =
      event.key === '/' && !event.ctrlKey && !event.metaKey && !event.target.matches('input, textarea, select');
    if (!isShortcut && !isSlash) return;
    event.preventDefault();
    open();
  });
}
