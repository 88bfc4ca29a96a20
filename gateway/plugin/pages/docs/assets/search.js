// The search of the documentation. Its index is loaded when the field gets the focus.
const field = document.getElementById('search');
const list = document.getElementById('found');
const most = 12;
let entries;

async function load() {
  entries ??= fetch('/docs/search.json').then((response) => (response.ok ? response.json() : []));
  return entries.catch(() => {
    entries = undefined;
    return [];
  });
}

/** Each word must occur. A title that begins with the first word comes first, then other titles, then other texts. */
function rank({ title, words }, asked) {
  const name = title.toLowerCase();
  const all = `${name} ${words}`;
  if (!asked.every((word) => all.includes(word))) return 0;
  if (name.startsWith(asked[0])) return 3;
  return asked.every((word) => name.includes(word)) ? 2 : 1;
}

async function show() {
  const asked = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = (await load()).map((entry) => ({ entry, place: asked.length > 0 ? rank(entry, asked) : 0 }));
  const found = ranked.filter(({ place }) => place > 0).sort((a, b) => b.place - a.place);
  const items = found.slice(0, most).map(({ entry: { title, kind, address } }) => {
    const [item, link, note] = ['li', 'a', 'small'].map((name) => document.createElement(name));
    link.href = address;
    note.textContent = kind;
    link.append(title, ' ', note);
    item.append(link);
    return item;
  });
  if (items.length === 0) {
    const item = document.createElement('li');
    item.textContent = 'Nothing found.';
    items.push(item);
  }
  list.replaceChildren(...items);
  list.hidden = asked.length === 0;
}

/** Moves the focus between the field and the links below it. */
function move(event, step) {
  const stops = [field, ...list.querySelectorAll('a')];
  const next = stops[stops.indexOf(document.activeElement) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

/** Makes the search work. */
export function startSearch() {
  if (field === null) return;
  const { parentElement } = field;
  field.addEventListener('focus', load);
  field.addEventListener('input', show);
  parentElement.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') move(event, 1);
    else if (event.key === 'ArrowUp') move(event, -1);
    else if (event.key === 'Escape') list.hidden = true;
    else if (event.key === 'Enter' && event.target === field) list.querySelector('a')?.click();
  });
  parentElement.addEventListener('focusout', ({ relatedTarget }) => {
    if (!parentElement.contains(relatedTarget)) list.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.matches('input, textarea, select')) return;
    event.preventDefault();
    field.focus();
  });
}
