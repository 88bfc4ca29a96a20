// Generates realistic products (names, brands, prices, ratings) from a seed.
import type { SeedProduct } from './seed-product.ts';

interface Department {
  readonly name: string;
  readonly things: readonly string[];
  /** The price range in major units. */
  readonly from: number;
  readonly to: number;
}

const departments: readonly Department[] = [
  {
    name: 'Kitchen',
    things: ['Kettle', 'Pan', 'Knife', 'Mixing Bowl', 'Grater', 'Toaster', 'Teapot', 'Whisk'],
    from: 6,
    to: 180,
  },
  {
    name: 'Lighting',
    things: ['Desk Lamp', 'Floor Lamp', 'Lantern', 'Light Bulb', 'Spotlight', 'Candle'],
    from: 4,
    to: 260,
  },
  { name: 'Garden', things: ['Spade', 'Watering Can', 'Hose', 'Pruner', 'Planter', 'Bench', 'Rake'], from: 8, to: 340 },
  { name: 'Audio', things: ['Headphones', 'Speaker', 'Turntable', 'Microphone', 'Amplifier'], from: 25, to: 1200 },
  {
    name: 'Office',
    things: ['Notebook', 'Fountain Pen', 'Stapler', 'Chair', 'Monitor Stand', 'Desk Mat'],
    from: 3,
    to: 420,
  },
  {
    name: 'Outdoor',
    things: ['Tent', 'Backpack', 'Sleeping Bag', 'Headlamp', 'Flask', 'Trekking Pole'],
    from: 12,
    to: 600,
  },
  { name: 'Cycling', things: ['Helmet', 'Saddle', 'Pump', 'Bell', 'Pedals', 'Lock', 'Pannier'], from: 7, to: 380 },
  {
    name: 'Toys',
    things: ['Puzzle', 'Building Blocks', 'Kite', 'Wooden Train', 'Board Game', 'Yo-yo'],
    from: 5,
    to: 90,
  },
  { name: 'Bath', things: ['Towel', 'Bath Mat', 'Soap Dish', 'Mirror', 'Shower Head'], from: 4, to: 150 },
  { name: 'Textiles', things: ['Blanket', 'Cushion', 'Tablecloth', 'Rug', 'Curtain', 'Bed Linen'], from: 9, to: 480 },
  { name: 'Tools', things: ['Hammer', 'Drill', 'Screwdriver Set', 'Saw', 'Spirit Level', 'Pliers'], from: 6, to: 320 },
  {
    name: 'Coffee',
    things: ['Espresso Machine', 'Grinder', 'Filter', 'Cup', 'French Press', 'Scale'],
    from: 5,
    to: 900,
  },
];

const qualities = [
  'Classic',
  'Compact',
  'Solid',
  'Light',
  'Foldable',
  'Quiet',
  'Large',
  'Small',
  'Heavy-Duty',
  'Everyday',
];
const materials = ['Oak', 'Steel', 'Copper', 'Linen', 'Cork', 'Bamboo', 'Glass', 'Wool', 'Aluminium', 'Stoneware'];
const beginnings = [
  'Nord',
  'Alt',
  'Feld',
  'Berg',
  'Lind',
  'Haven',
  'Bright',
  'Oak',
  'River',
  'Stone',
  'Grey',
  'Fair',
  'Win',
  'Ash',
];
const endings = ['mann & Co', 'wick', 'berg', 'field', 'haus', 'ley', 'ström', 'ford', 'craft', 'works', 'ton', 'dale'];

const firstDay = Date.UTC(2024, 0, 1);
const span = 700 * 86_400_000;

/**
 * Generates products in the order of their creation, as in a shop that has grown over about two years. Equal seeds and
 * counts produce equal products. Because of this order, each product is appended at the end of the indexes on time.
 */
export function* sampleProducts(count: number, seed: number, decimals: number): Generator<SeedProduct, void> {
  const random = generator(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const unit = 10 ** decimals;
  for (let index = 0; index < count; index += 1) {
    const department = oneOf(departments);
    const [thing, quality, material] = [oneOf(department.things), oneOf(qualities), oneOf(materials)];
    const createdAt = firstDay + Math.floor((span * (index + random())) / count);
    // Cubing the random number makes low prices more frequent. Most prices end in .9 or .99.
    const major = department.from + (department.to - department.from) * random() ** 3;
    const charm = decimals === 0 ? 0 : Math.round(unit * oneOf([0.99, 0.9, 0.5, 0.49, 0, random()]));
    const roll = random();
    const id = idAt(createdAt, random);
    const model = 100 + below(900);
    yield {
      id,
      name: `${quality} ${material} ${thing} ${model}`,
      description:
        `${quality} ${thing.toLowerCase()} with ${material.toLowerCase()}, ` +
        'made to be used every day and repaired when it must be.',
      brand: `${oneOf(beginnings)}${oneOf(endings)}`,
      category: `${department.name} / ${thing}`,
      price: Math.floor(major) * unit + Math.min(charm, unit - 1),
      // The mean of three random numbers: many good ratings, few bad ones.
      rating: random() < 1 / 12 ? null : Math.min(50, Math.round(18 + 11 * (random() + random() + random()))),
      status: roll < 0.88 ? 'available' : roll < 0.95 ? 'backorder' : 'pending',
      stock: random() < 0.08 ? 0 : 1 + below(200),
      createdAt: new Date(createdAt).toISOString(),
    };
  }
}

/** Returns a UUID version 7 (RFC 9562 section 5.7) with a time in the past. */
function idAt(moment: number, random: () => number): string {
  const time = moment.toString(16).padStart(12, '0');
  const hex = (digits: number) =>
    Math.floor(random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  const variant = '89ab'[Math.floor(random() * 4)];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${variant}${hex(3)}-${hex(12)}`;
}

/** Returns pseudo-random numbers in [0, 1), equal for equal seeds (sfc32, with 128 bits of state). */
function generator(seed: number): () => number {
  let [a, b, c, counter] = [0, seed | 0, Math.floor(seed / 4_294_967_296) | 0, 1];
  const next = () => {
    const mixed = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + mixed) | 0;
    return (mixed >>> 0) / 4_294_967_296;
  };
  for (let warming = 0; warming < 15; warming += 1) next();
  return next;
}
