// Sends the request of an operation. The access token stays in the storage of the tab, and never in an address.
import { onOwnValues, ownValue, setOwnValue, withOwnValues } from './own-values.js';

const tokenKey = 'access-token';
const form = document.getElementById('try');
const { method, path, type } = form.dataset;
const { token, body } = form.elements;
/** What the examples show until the reader gives a value. */
const examples = new Map(
  [...document.querySelectorAll('[data-own]')].map((mark) => [mark.dataset.own, mark.textContent]),
);

const kept = {
  read: () => {
    try {
      return sessionStorage.getItem(tokenKey) ?? '';
    } catch {
      return '';
    }
  },
  write: (value) => {
    try {
      sessionStorage.setItem(tokenKey, value);
    } catch {
      // The browser keeps no data for this page. The token lasts as long as the page.
    }
  },
};

function setToken(value) {
  kept.write(value);
  if (token !== undefined) token.value = value;
}

/** The parameters of one place that the reader has filled in. */
function given(place) {
  return [...form.elements].flatMap(({ name, value }) => {
    const [where, parameter] = name.split(/:(.*)/s);
    return where === place && value !== '' ? [[parameter, value]] : [];
  });
}

function addressOf() {
  const inPath = new Map(given('path'));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(inPath.get(name) ?? ''));
  // The parameter `attributes` stands for all that begin with `attributes.`, as in `attributes.colour=red`.
  const query = new URLSearchParams(
    given('query').map(([name, value]) => {
      const [, member, rest] = name === 'attributes' ? (/^(\w+)=(.*)$/s.exec(value) ?? []) : [];
      return member === undefined ? [name, value] : [`${name}.${member}`, rest];
    }),
  );
  return query.size === 0 ? filled : `${filled}?${query}`;
}

function optionsOf() {
  const headers = new Headers(given('header'));
  if (form.elements['header:Idempotency-Key']?.value === '') {
    key ??= newKey();
    headers.set('Idempotency-Key', key);
  }
  if (token !== undefined && token.value !== '') headers.set('Authorization', `Bearer ${token.value}`);
  const text = body?.value.trim() ?? '';
  if (text !== '') headers.set('Content-Type', type);
  return { method, headers, cache: 'no-store', ...(text === '' ? {} : { body: text }) };
}

/** Keeps the key until a clear answer to this body arrives, so that no order is placed twice. */
let key;
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Keeps the token of a log-in and the id of what was created. */
function learnFrom(response, answer) {
  if (!response.ok) return;
  if (path === '/v1/tokens') setToken(answer.access_token);
  const location = response.headers.get('Location') ?? '';
  const [, kind, id] = /^\/v1\/(?:products-)?(order|product|import)s\/([^/]+)$/.exec(location) ?? [];
  if (kind !== undefined) setOwnValue(`${kind}Id`, id);
}

async function send() {
  const request = new Request(addressOf(), optionsOf());
  const began = performance.now();
  let response;
  let text;
  try {
    response = await fetch(request);
    text = await response.text();
  } catch {
    return { status: 'No answer', text: 'The shop did not answer. Try again.' };
  }
  const took = Math.round(performance.now() - began);
  const answer = /\bjson\b/.test(response.headers.get('Content-Type') ?? '') ? JSON.parse(text) : undefined;
  // After a failure, or while the first request is in progress, the request may have been executed.
  if (response.status < 500 && answer?.code !== 'request-in-progress') key = undefined;
  learnFrom(response, answer);
  const fields = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  const shown = answer === undefined ? text : JSON.stringify(answer, undefined, 2);
  return {
    status: `${response.status} ${response.statusText}, ${took} ms`,
    text: [shown, fields].filter(Boolean).join('\n\n'),
  };
}

function show({ status, text }) {
  const shown = document.getElementById('answer-status');
  const state = { 2: 'success', 3: 'success', 4: 'warning' }[status[0]] ?? 'danger';
  shown.className = `badge ${state}`;
  shown.textContent = status;
  document.getElementById('answer-text').textContent = text;
  const answer = document.getElementById('answer');
  answer.hidden = false;
  answer.scrollIntoView({ block: 'nearest' });
}

if (token !== undefined) {
  token.value = kept.read();
  token.addEventListener('input', () => kept.write(token.value));
  document.getElementById('forget').addEventListener('click', () => setToken(''));
}
let untouched = true;
body?.addEventListener('input', () => {
  untouched = false;
  key = undefined;
});
onOwnValues(() => {
  for (const field of form.querySelectorAll('[data-value]')) {
    if (field !== document.activeElement) field.value = ownValue(field.dataset.value) ?? '';
  }
  if (body !== undefined && untouched) body.value = withOwnValues(body.dataset.template, examples);
});
form.addEventListener('input', ({ target }) => {
  const { value: name } = target.dataset;
  if (name !== undefined) setOwnValue(name, target.value.trim());
});
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('[type=submit]');
  // A second click would send the request again.
  button.disabled = true;
  show(await send().catch(({ message }) => ({ status: 'Error', text: message })));
  button.disabled = false;
});
