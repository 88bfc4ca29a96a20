// Products of the demo shop in several sizes, colours, weights and formats. They take the places of generated products.
import type { SampleProduct } from './sample-products.ts';

interface Group {
  readonly group: string;
  readonly name: string;
  readonly description: string;
  readonly brand: string;
  readonly category: string;
  readonly taxCategory?: string;
  readonly variants: readonly Variant[];
}

interface Variant {
  readonly options: Readonly<Record<string, string>>;
  /** In major units. */
  readonly price: number;
  /** Absent for a product that is not sent. */
  readonly weightGrams?: number;
  readonly stock?: number;
}

const shirt = { price: 24.9, weightGrams: 180 };
const groups: readonly Group[] = [
  {
    group: 'TEE',
    name: 'Organic Cotton T-Shirt',
    description: 'A plain shirt that keeps its shape and colour.',
    brand: 'Lindwick',
    category: 'Textiles / T-Shirt',
    variants: [
      { ...shirt, options: { colour: 'black', size: 'S' } },
      { ...shirt, options: { colour: 'black', size: 'M' } },
      { ...shirt, options: { colour: 'black', size: 'L' } },
      { ...shirt, options: { colour: 'white', size: 'S' } },
      { ...shirt, options: { colour: 'white', size: 'M' } },
      { ...shirt, options: { colour: 'white', size: 'L' }, stock: 0 },
    ],
  },
  {
    group: 'BEANS',
    name: 'Espresso Beans',
    description: 'Dark roast with little acidity.',
    brand: 'Havenberg',
    category: 'Coffee / Beans',
    taxCategory: 'reduced',
    variants: [
      { options: { weight: '250 g' }, price: 6.9, weightGrams: 270 },
      { options: { weight: '1 kg' }, price: 22.9, weightGrams: 1_030 },
    ],
  },
  {
    group: 'HANDBOOK',
    name: 'The Coffee Handbook',
    description: 'From the bean to the cup, on 240 pages.',
    brand: 'Brightford',
    category: 'Books / Coffee',
    taxCategory: 'reduced',
    variants: [
      { options: { format: 'paperback' }, price: 18, weightGrams: 420 },
      { options: { format: 'e-book' }, price: 12.9 },
    ],
  },
];

type Members = Omit<SampleProduct, 'id' | 'createdAt' | 'rating'>;

/** @param decimals of the shop's currency */
function demoVariants(decimals: number): Members[] {
  return groups.flatMap(({ group, variants, taxCategory = null, ...shared }) =>
    variants.map(({ options, price, weightGrams = null, stock = 40 }): Members => {
      return {
        ...shared,
        price: Math.round(price * 10 ** decimals),
        status: 'available',
        stock,
        sku: [group, ...Object.values(options)].join('-').toUpperCase().replaceAll(' ', ''),
        attributes: JSON.stringify(options),
        taxCategory,
        weightGrams,
        isShipped: weightGrams === null ? false : null,
        variant: JSON.stringify({ group, options }),
      };
    }),
  );
}

/** Returns the products with those of the demo in place of the last ones. */
export function withDemoVariants(products: readonly SampleProduct[], decimals: number): SampleProduct[] {
  const demo = demoVariants(decimals);
  const first = products.length - demo.length;
  return products.map((product, index) => ({ ...product, ...demo[index - first] }));
}
