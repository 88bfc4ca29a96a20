// The board: logs in, follows the stream of figures, and says what to do when something is wrong. Tokens stay in memory.
const at = (id) => document.getElementById(id);
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
let tokens;

async function fetchTokens(body) {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch('/v1/tokens', { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer);
  tokens = answer;
}

class Refused extends Error {
  constructor({ detail, code }) {
    super(detail);
    this.code = code;
  }
}

function element(name, text, className = '') {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

function rows(id, all) {
  at(id).replaceChildren(
    ...all.map((cells) => {
      const row = document.createElement('tr');
      row.append(...cells.map(([text, ill]) => element('td', text, ill ? 'ill' : '')));
      return row;
    }),
  );
}

/** Seconds that an event may wait before somebody should look; as the alert has it. */
const longestLag = 30;

function showShop({ within, processes, queues, orders, stock }) {
  rows(
    'processes',
    processes.map(({ process, replicas, requests, failed, half, most, lag }) => [
      [process],
      [replicas, replicas === 0],
      [requests],
      [failed, failed > 0],
      [`${half} ms`],
      [`${most} ms`],
      [lag === undefined ? '' : `${lag.toFixed(1)} s`, lag > longestLag],
    ]),
  );
  rows(
    'queues',
    queues.map(({ consumer, waiting, delayed, dead }) => [[consumer], [waiting], [delayed], [dead, dead > 0]]),
  );
  rows(
    'orders',
    Object.entries(orders).map((entry) => entry.map((cell) => [cell])),
  );
  rows(
    'stock',
    Object.entries(stock).map((entry) => entry.map((cell) => [cell])),
  );
  at('within').textContent = `Requests and stock: in the last ${within} s.`;
  at('shop').hidden = false;
}

async function showOrder(id) {
  const headers = { Authorization: `Bearer ${tokens.access_token}` };
  const response = await fetch(`/board/orders/${encodeURIComponent(id)}`, { headers });
  const answer = await response.json();
  at('trace').hidden = !response.ok;
  at('found').textContent = response.ok ? `Order ${answer.orderId} is ${answer.status}.` : answer.detail;
  if (!response.ok) return;
  rows(
    'steps',
    answer.steps.map(({ at: time, service, what, traceId = '', requestId = '' }) => [
      [time],
      [service],
      [what],
      [traceId],
      [requestId],
    ]),
  );
}

function show({ services, operations, shop }) {
  if (shop !== undefined) showShop(shop);
  const up = (ready) => (ready ? 'ready' : 'not ready: look at its log and at /health/ready');
  at('services').replaceChildren(
    ...Object.entries(services).map(([name, ready]) => element('li', `${name}: ${up(ready)}`, ready ? 'well' : 'ill')),
  );
  at('operations').replaceChildren(
    ...operations.map(({ operation, requests, refused, failed, half, most }) => {
      const row = document.createElement('tr');
      const cells = [operation, requests, refused, failed, `${half} ms`, `${most} ms`];
      row.append(...cells.map((cell, index) => element('td', cell, index === 3 && failed > 0 ? 'ill' : '')));
      return row;
    }),
  );
  at('figures').hidden = false;
  at('log-in').hidden = true;
  at('notice').textContent = `As of ${new Date().toLocaleTimeString()}.`;
}

async function follow() {
  const response = await fetch('/board/events', { headers: { Authorization: `Bearer ${tokens.access_token}` } });
  if (!response.ok) throw new Refused(await response.json());
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (text + chunk).split('\n\n');
    text = events.pop();
    for (const event of events) show(JSON.parse(event.slice('data: '.length)));
  }
}

/** Follows until the figures may not be seen any more; a broken stream is taken up again. */
async function keepFollowing() {
  for (;;) {
    try {
      await follow();
      await wait(1_000);
    } catch (error) {
      if (error instanceof Refused && error.code === 'unauthenticated') {
        await fetchTokens({ refresh_token: tokens.refresh_token });
      } else if (error instanceof Refused && error.code === 'forbidden') {
        throw new Error(
          'This account lacks the scope. Run: npm run shop -- staff grant EMAIL orders:read-all. Then log in again.',
        );
      } else {
        at('notice').textContent = 'No figures: the gateway does not answer. Trying again…';
        await wait(2_000);
      }
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
    at('notice').textContent = error.message;
  }
});
