// The positions in the picture of the shop, in CSS pixels: one layout for wide windows and one for narrow ones.
const services = ['accounts', 'orders', 'catalogue', 'changes', 'notifications'];
const called = ['accounts', 'orders', 'catalogue', 'changes'];
const queues = {
  'orders.effects': 'orders',
  'catalogue.inventory': 'catalogue',
  'changes.feed': 'changes',
  'notifications.mail': 'notifications',
};

/**
 * The position of a text within its card: x, y, and its text anchor. The state stands below the name, because a long name
 * needs the whole width.
 */
const processTexts = (w, [first, second, third, fourth]) => ({
  name: [34, first],
  rate: [w - 12, first, 'end'],
  state: [13, second],
  up: [w - 12, second, 'end'],
  most: [13, third],
  // Only one of these two texts is shown.
  failed: [13, fourth],
  why: [13, fourth],
});

const narrowTexts = (w) => processTexts(w, [24, 45, 63, 82]);

const schema = (name, label, x, y, w) => {
  const texts = { name: [33, 32], state: [33, 49], lag: [12, 66] };
  return { key: `schema ${name}`, label, x, y, w, h: 76, icon: [20, 28], texts };
};

/** The points of a line: x, y, x, y … */
const through = (...xy) => xy.flatMap((x, index) => (index % 2 === 0 ? [[x, xy[index + 1]]] : []));

// The function is longer than others, because it is a table of positions.
function wideWindow() {
  const columns = Object.fromEntries(services.map((name, index) => [name, index * 218]));
  const [card, w] = [112, 200];
  const texts = processTexts(w, [28, 53, 75, 98]);
  const gateway = { key: 'process gateway', x: columns.orders, y: 6, w, h: card, icon: [20, 23], texts };
  const [row, base, broker] = [184, 332, 496];
  const places = [gateway];
  const lines = [
    { from: 'clients', to: 'gateway', points: through(124, 62, columns.orders, 62), label: [171, 53, 'middle'] },
    { from: 'orders', to: 'catalogue', points: through(columns.orders + w, row + 44, columns.catalogue, row + 44) },
    { from: 'catalogue', to: 'orders', points: through(columns.catalogue, row + 68, columns.orders + w, row + 68) },
  ];
  places.push({
    key: 'broker broker',
    x: 0,
    y: broker,
    w: 1072,
    h: 104,
    icon: [22, 34],
    texts: { name: [36, 39], state: [36, 60], why: [14, 84] },
  });
  for (const name of services) {
    const x = columns[name];
    places.push({ key: `process ${name}`, x, y: row, w, h: card, icon: [20, 23], texts });
    places.push(schema(name, name, x + 8, base + 26, 160));
    lines.push({
      from: name,
      to: `schema ${name}`,
      points: through(x + 88, row + card, x + 88, base + 26),
    });
    lines.push({
      event: true,
      from: name,
      to: 'broker',
      points: through(x + 88, base + 102, x + 88, broker),
      label: [x + 98, 472],
    });
  }
  for (const name of called) {
    const x = columns[name] + w / 2;
    const start = columns.orders + w / 2;
    lines.push({
      from: 'gateway',
      to: name,
      points: through(start, 118, start, 150, x, 150, x, row),
      label: [x + 10, 173],
    });
  }
  for (const [name, service] of Object.entries(queues)) {
    const x = columns[service];
    places.push({
      key: `queue ${name}`,
      x,
      y: broker + 12,
      w: 194,
      h: 80,
      icon: [16, 21],
      texts: { name: [28, 26], state: [182, 68, 'end'], waiting: [13, 49], dead: [13, 68] },
    });
    lines.push({
      event: true,
      from: name,
      to: service,
      points: through(x + 182, broker + 12, x + 182, row + card),
      label: [x + 174, 472, 'end'],
    });
  }
  const frames = [{ x: 0, y: base, w: 1072, h: 114, label: 'PostgreSQL', at: [100, 350] }];
  const notes = [{ text: 'clients', x: 0, y: 44, w: 124, h: 36 }];
  return { width: 1072, height: 606, places, lines, frames, notes };
}

function narrowWindow() {
  const [card, w, pitch, top] = [92, 186, 116, 122];
  const rows = Object.fromEntries(services.map((name, index) => [name, top + index * pitch]));
  const texts = narrowTexts(w);
  const broker = 708;
  const places = [
    { key: 'process gateway', x: 0, y: 4, w: 358, h: card, icon: [20, 19], texts: narrowTexts(358) },
    {
      key: 'broker broker',
      x: 0,
      y: broker,
      w: 358,
      h: 290,
      icon: [22, 20],
      texts: { name: [36, 25], state: [346, 25, 'end'] },
    },
  ];
  const between = rows.orders + card;
  const lines = [
    { from: 'orders', to: 'catalogue', points: through(190, between, 190, rows.catalogue) },
    { from: 'catalogue', to: 'orders', points: through(208, rows.catalogue, 208, between) },
  ];
  for (const [name, y] of Object.entries(rows)) {
    places.push({ key: `process ${name}`, x: 32, y, w, h: card, icon: [20, 19], texts });
    places.push(schema(name, 'schema', 236, y + 9, 102));
    lines.push({
      from: name,
      to: `schema ${name}`,
      points: through(218, y + 47, 236, y + 47),
    });
    lines.push({ event: true, from: name, to: 'broker', points: through(338, y + 47, 351, y + 47, 351, broker) });
  }
  for (const name of called)
    lines.push({ from: 'gateway', to: name, points: through(9, 96, 9, rows[name] + 28, 32, rows[name] + 28) });
  for (const [index, [name, service]] of Object.entries(queues).entries()) {
    const y = rows[service] + 64;
    places.push({
      key: `queue ${name}`,
      x: 10,
      y: broker + 38 + index * 62,
      w: 338,
      h: 54,
      icon: [20, 18],
      texts: { name: [34, 23], state: [326, 23, 'end'], waiting: [13, 43], dead: [326, 43, 'end'] },
    });
    lines.push({ event: true, from: name, to: service, points: through(20, broker, 20, y, 32, y) });
  }
  const frames = [{ x: 229, y: 106, w: 116, h: 586, label: 'PostgreSQL', at: [287, 121, 'middle'] }];
  return { width: 358, height: 1000, places, lines, frames, notes: [] };
}

export const wide = wideWindow();
export const narrow = narrowWindow();
