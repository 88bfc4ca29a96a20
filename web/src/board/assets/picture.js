// The picture of the shop: gateway, services, schemas and broker with their states, and the requests and events between
// them.
import { narrow, wide } from './picture-layout.js';

/** The outline and the sign of each state, so that no information depends on colour alone. */
const signs = {
  ready: ['M-8,0 a8,8 0 1 1 16,0 a8,8 0 1 1 -16,0z', 'M-3.6,0.4 l2.6,2.6 l4.8,-5.4'],
  impaired: ['M0,-8.6 L9,7.4 H-9z', 'M0,-3.4 v5 M0,4.6 v0.1'],
  'not ready': ['M-3.4,-8.2 h6.8 l4.8,4.8 v6.8 l-4.8,4.8 h-6.8 l-4.8,-4.8 v-6.8z', 'M-3,-3 l6,6 M3,-3 l-6,6'],
  unknown: [
    'M-8,0 a8,8 0 1 1 16,0 a8,8 0 1 1 -16,0z',
    'M-2.6,-2.4 a2.6,2.6 0 1 1 3.8,2.3 q-1.2,0.6 -1.2,1.7 M0,4.4 v0.1',
  ],
};

function svg(name, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function text([x, y, end = 'start'], className, content = '') {
  return svg('text', { x, y, class: className, 'text-anchor': end }, content);
}

/** A path of straight lines with round corners. */
function route(points) {
  const turns = points.slice(1, -1).map(([x, y], index) => {
    const towards = ([toX, toY]) => {
      const far = Math.min(8, Math.hypot(toX - x, toY - y) / 2);
      return [x + Math.sign(toX - x) * far, y + Math.sign(toY - y) * far];
    };
    return `L${towards(points[index])} Q${x},${y} ${towards(points[index + 2])}`;
  });
  return `M${points[0]} ${turns.join(' ')} L${points.at(-1)}`;
}

/** The outline of a part: a cylinder for a schema, a card for the others. */
function outline({ key, w, h }) {
  if (!key.startsWith('schema ')) return svg('rect', { class: 'outline', width: w, height: h, rx: 10 });
  const bend = `a${w / 2},7 0 0 0 ${w},0`;
  const body = `M0,7 v${h - 14} ${bend} v${14 - h} a${w / 2},7 0 0 0 ${-w},0 ${bend}`;
  return svg('path', { class: 'outline', d: body });
}

/** The table row to which a part links. */
function rowOf(key) {
  const [kind, name] = key.split(' ');
  if (kind === 'broker') return '#queues';
  return kind === 'queue' ? `#queues-${name}` : `#processes-${name}`;
}

/** The texts on a part. A text without data is empty. */
function textsOf(key, { processes = [], queues = [], within = 0 } = {}) {
  const [kind, name] = key.split(' ');
  const said = processes.find(({ process }) => process === name);
  const queue = queues.find(({ consumer }) => consumer === name);
  if (kind === 'queue' && queue !== undefined) {
    const letters = queue.dead === 1 ? 'dead letter' : 'dead letters';
    return { waiting: `${queue.waiting} waiting · ${queue.delayed} delayed`, dead: `${queue.dead} ${letters}` };
  }
  if (kind === 'schema' && said?.lag !== undefined) return { lag: `outbox ${said.lag.toFixed(1)} s` };
  if (kind !== 'process' || said === undefined) return {};
  const up = `${said.ready} of ${said.known} up`;
  if (said.replicas === 0) return { up };
  const rate = perSecond(said.requests, within);
  // Without requests there are no durations and no failures.
  if (said.requests === 0) return { up, rate };
  return { up, rate, most: `99 % within ${said.most} ms`, failed: `${said.failed} failed` };
}

function perSecond(count, within) {
  if (within === 0) return '';
  const rate = count / within;
  return `${rate >= 10 || rate === 0 ? Math.round(rate) : rate.toFixed(1)}/s`;
}

/** The number of requests or events on a line. */
function movedAlong({ event, from, to }, { processes = [], queues = [] } = {}) {
  const said = (name) => processes.find(({ process }) => process === name);
  if (event) return said(from)?.published ?? queues.find(({ consumer }) => consumer === from)?.taken ?? 0;
  return from === 'clients' ? (said(to)?.requests ?? 0) : (said(from)?.calls[to] ?? 0);
}

function drawPart(place) {
  const { key, x, y, icon, texts, label = key.split(' ')[1] } = place;
  const lines = Object.entries(texts).map(([slot, at]) => [slot, text(at, slot, slot === 'name' ? label : '')]);
  const sign = [svg('path', { class: 'shape' }), svg('path', { class: 'sign' })];
  const title = svg('title', {});
  const link = svg(
    'a',
    { href: rowOf(key), transform: `translate(${x} ${y})`, 'data-part': key },
    title,
    outline(place),
    svg('g', { transform: `translate(${icon})` }, ...sign),
    ...lines.map(([, drawn]) => drawn),
  );
  return { key, link, title, sign, lines: new Map(lines) };
}

function drawLine(line) {
  const d = route(line.points);
  const moving = svg('path', { class: 'moving', d });
  const label = line.label && text(line.label, 'label');
  const kind = line.event ? 'event' : 'request';
  const drawn = svg(
    'g',
    { class: kind },
    svg('path', { class: 'line', d, 'marker-end': `url(#${kind})` }),
    moving,
    label ?? '',
  );
  return { line, label, drawn };
}

function marker(id) {
  const tip = svg('path', { d: 'M0,0 L8,4 L0,8z' });
  return svg(
    'marker',
    {
      id,
      viewBox: '0 0 8 8',
      refX: 7,
      refY: 4,
      markerWidth: 8,
      markerHeight: 8,
      markerUnits: 'userSpaceOnUse',
      orient: 'auto',
    },
    tip,
  );
}

function draw({ width, height, places, lines, frames, notes }) {
  const parts = places.map(drawPart);
  const paths = lines.map(drawLine);
  const image = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'The parts of the shop' },
    svg('defs', {}, marker('request'), marker('event')),
    ...frames.flatMap(({ label, at, x, y, w, h }) => [
      svg('rect', { class: 'frame', x, y, width: w, height: h, rx: 12 }),
      text(at, 'note', label),
    ]),
    ...notes.flatMap(({ text: content, x, y, w, h }) => [
      svg('rect', { class: 'frame', x, y, width: w, height: h, rx: h / 2 }),
      text([x + w / 2, y + h / 2 + 5, 'middle'], 'note', content),
    ]),
    // Lines that end at the broker are drawn below it, lines from its queues above it.
    ...parts.filter(({ key }) => key.startsWith('broker')).map(({ link }) => link),
    svg('g', { 'aria-hidden': 'true' }, ...paths.map(({ drawn }) => drawn)),
    ...parts.filter(({ key }) => !key.startsWith('broker')).map(({ link }) => link),
  );
  return { image, parts, paths };
}

/** Draws the picture in an element, in the layout that fits the window. */
export function createPicture(element) {
  const roomy = matchMedia('(min-width: 60rem)');
  let now = { parts: [] };
  let drawn;

  function update() {
    const known = new Map(now.parts.map((part) => [`${part.kind} ${part.name}`, part]));
    for (const { key, link, title, sign, lines } of drawn.parts) {
      const { state, faults } = known.get(key) ?? { state: 'unknown', faults: [] };
      const texts = { state, ...textsOf(key, now.shop), ...(faults[0] && { failed: '', why: faults[0].what }) };
      link.setAttribute('class', `part ${state.replace(' ', '-')}`);
      for (const [index, path] of sign.entries()) path.setAttribute('d', signs[state][index]);
      for (const [slot, line] of lines) if (slot !== 'name') line.textContent = texts[slot] ?? '';
      const spoken = [key.replace('process ', ''), ...Object.values(texts).filter((part) => part !== '')].join(', ');
      // The title of a link in a picture is also its name for a screen reader.
      title.textContent = [spoken, ...faults.map(({ what, todo }) => `${what}: ${todo}`)].join('\n');
    }
    for (const { line, label, drawn: path } of drawn.paths) {
      const count = movedAlong(line, now.shop);
      path.classList.toggle('busy', count > 0);
      if (label) label.textContent = perSecond(count, now.shop?.within ?? 0);
    }
  }

  function redraw() {
    drawn = draw(roomy.matches ? wide : narrow);
    element.replaceChildren(drawn.image);
    update();
  }

  roomy.addEventListener('change', redraw);
  redraw();
  return {
    /** @param state the data of all parts; the state of a missing part is unknown */
    show(state) {
      now = state;
      update();
    },
  };
}
