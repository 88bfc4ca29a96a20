// The board: logs in, reads the stream of data, and shows each fault with what to do. Tokens are kept in memory only.
import { createPicture } from './picture.js';

const at = (id) => document.getElementById(id);
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const picture = createPicture(at('picture'));
let tokens;

class Refused extends Error {
  constructor({ detail, code }) {
    super(detail);
    this.code = code;
  }
}

async function fetchTokens(body) {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch('/v1/tokens', { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer);
  tokens = answer;
}

function element(name, content = '', attributes = {}) {
  const made = document.createElement(name);
  made.textContent = content;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Updates a table in place, so that selection, focus and link targets stay. The id of a row is its first cell. */
function rows(id, all) {
  const body = at(id);
  while (body.rows.length > all.length) body.deleteRow(-1);
  for (const [index, cells] of all.entries()) {
    const row = body.rows[index] ?? body.insertRow();
    row.id = `${id}-${cells[0]}`;
    for (const [place, given] of cells.entries()) {
      const [content, ill = false] = [given].flat();
      const cell = row.cells[place] ?? row.insertCell();
      if (cell.textContent !== String(content)) cell.textContent = content;
      cell.className = ill ? 'danger' : '';
    }
  }
}

/** Seconds that an event may wait; the threshold of the alert. */
const longestLag = 30;

/** One row; without webhooks, the section is hidden. */
function showWebhooks(webhooks) {
  at('webhooks').closest('section').hidden = webhooks === undefined;
  if (webhooks === undefined) return;
  const { states, failingAge, parked } = webhooks;
  const of = (state) => states[state] ?? 0;
  const ill = (count) => [count, count > 0];
  rows('webhooks', [
    [
      ...[of('active'), of('unverified'), ill(of('in-trouble')), of('paused'), ill(of('suspended')), of('ended')],
      failingAge === 0 ? '' : `${Math.round(failingAge)} s`,
      ill(parked),
    ],
  ]);
}

function showShop({ within, processes, queues, webhooks, orders, stock }) {
  rows(
    'processes',
    processes.map(({ process, known, ready, requests, failed, half, most, lag }) => [
      process,
      [`${ready} of ${known}`, ready < known],
      requests,
      [failed, failed > 0],
      `${half} ms`,
      `${most} ms`,
      lag === undefined ? '' : [`${lag.toFixed(1)} s`, lag > longestLag],
    ]),
  );
  rows(
    'queues',
    queues.map(({ consumer, taken, waiting, delayed, dead }) => [consumer, taken, waiting, delayed, [dead, dead > 0]]),
  );
  showWebhooks(webhooks);
  rows('orders', Object.entries(orders));
  rows('stock', Object.entries(stock));
  at('within').textContent = `Requests, events and stock: in the last ${within} s.`;
  at('shop').hidden = false;
}

/** Shows the faults with what to do, the causes first, and announces the parts whose state has changed. */
let before = new Map();
function showFaults(parts, headline, blind) {
  // The states of schemas and queues depend on their process, so they are not announced. A lost broker is the cause of
  // a process that is not ready.
  const announced = ['broker', 'process'].flatMap((kind) => parts.filter((part) => part.kind === kind));
  const states = new Map(announced.map(({ name, state }) => [name, state]));
  const changed = [...states].filter(([name, state]) => before.has(name) && before.get(name) !== state);
  if (changed.length > 0) at('notice').textContent = changed.map(([name, state]) => `${name} is ${state}.`).join(' ');
  before = states;
  const shown = JSON.stringify([headline, blind]);
  if (at('faults').dataset.shown === shown) return;
  at('faults').dataset.shown = shown;
  const items = headline.map(({ parts: names, what, todo, runbook }) => {
    const item = element('li', '', { class: 'notice danger' });
    const more = element('a', 'What to do', {
      href: `/docs/runbooks/${runbook}`,
      'aria-label': `What to do: ${names}`,
    });
    item.append(element('strong', `${names}: ${what}.`), ` ${todo} `, more);
    return item;
  });
  if (blind)
    items.push(
      element(
        'li',
        'Only the gateway is observed: set METRICS_URLS to the addresses where the processes offer their metrics.',
        { class: 'notice warning' },
      ),
    );
  at('faults').replaceChildren(
    ...(items.length > 0 ? items : [element('li', 'All is well.', { class: 'notice success' })]),
  );
}

function show({ parts, headline, operations, shop, blind }) {
  picture.show({ parts, shop });
  showFaults(parts, headline, blind);
  if (shop !== undefined) showShop(shop);
  rows(
    'operations',
    operations.map(({ operation, requests, refused, failed, half, most }) => [
      operation,
      requests,
      refused,
      [failed, failed > 0],
      `${half} ms`,
      `${most} ms`,
    ]),
  );
  at('figures').hidden = false;
  at('log-in').hidden = true;
  if (at('notice').className !== 'notice') {
    at('notice').className = 'notice';
    at('notice').textContent = '';
  }
  at('as-of').textContent = `As of ${new Date().toLocaleTimeString()}.`;
}

function summaryOf({ orderId, accountId, status, missing }) {
  const left = missing.map((name) => ` Steps are missing, because ${name} does not answer.`);
  return `Order ${orderId} of account ${accountId} is ${status}.${left.join('')}`;
}

async function showOrder(id) {
  const headers = { Authorization: `Bearer ${tokens.access_token}` };
  const response = await fetch(`/board/orders/${encodeURIComponent(id)}`, { headers });
  const answer = await response.json();
  at('steps').hidden = !response.ok;
  at('found').textContent = response.ok ? summaryOf(answer) : answer.detail;
  if (!response.ok) return;
  const items = answer.steps.map(({ at: time, service, kind, what, traceId, requestId }) => {
    const item = element('li');
    const ids = [requestId && `request ${requestId}`, traceId && `trace ${traceId}`].filter(Boolean).join(' · ');
    const when = element('time', time.replace('T', ' ').replace('Z', ''), { datetime: time });
    const step = element('em', kind);
    item.append(when, element('strong', service), step, element('span', what), element('small', ids));
    return item;
  });
  at('steps').replaceChildren(...items);
}

/** Milliseconds without an event after which the gateway counts as blocked. It sends one every two seconds. */
const longestSilence = 10_000;

async function follow() {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), longestSilence);
  const headers = { Authorization: `Bearer ${tokens.access_token}` };
  try {
    const response = await fetch('/board/events', { headers, signal: silence.signal });
    if (!response.ok) throw new Refused(await response.json());
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), longestSilence);
      const events = (text + chunk).split('\n\n');
      text = events.pop();
      for (const event of events) show(JSON.parse(event.slice('data: '.length)));
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Shows that the gateway sends no data, and its reason if it gives one; the state of all other parts is unknown. */
function showSilence(error) {
  const again = 'The board tries again by itself.';
  const [what, todo] =
    error instanceof Refused ? ['sends no data', `${error.message} ${again}`] : ['does not answer', again];
  const fault = { what, todo, runbook: 'process-down' };
  const parts = [{ kind: 'process', name: 'gateway', state: 'not ready', faults: [fault] }];
  picture.show({ parts });
  showFaults(parts, [{ ...fault, parts: 'gateway' }], false);
}

/** Reads the stream until it is closed, or gets a new access token in place of an expired one. */
async function followOrRenew() {
  try {
    await follow();
  } catch (error) {
    if (error.code !== 'unauthenticated') throw error;
    await fetchTokens({ refresh_token: tokens.refresh_token });
  }
}

/** Follows the stream until the account may no longer see it, or its session has ended. */
async function keepFollowing() {
  for (;;) {
    try {
      await followOrRenew();
      await wait(1_000);
    } catch (error) {
      if (error.code === 'forbidden')
        throw new Error(`This account lacks the scope. Run ${at('figures').dataset.grant}, then log in again.`);
      if (['invalid-credentials', 'account-blocked'].includes(error.code)) throw error;
      showSilence(error);
      await wait(2_000);
    }
  }
}

at('find').addEventListener('submit', async (event) => {
  event.preventDefault();
  await showOrder(new FormData(event.target).get('order').trim()).catch(() => {
    at('found').textContent = 'The gateway does not answer. Try again.';
  });
});

at('log-in').addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    await fetchTokens(Object.fromEntries(new FormData(event.target)));
    await keepFollowing();
  } catch (error) {
    at('figures').hidden = true;
    at('log-in').hidden = false;
    at('as-of').textContent = '';
    at('notice').className = 'notice danger';
    at('notice').textContent = error.message;
  }
});
