// The measured requests to every server, and the handwritten SQL of the minimal server.

export interface Case {
  readonly name: string;
  /** The request to the service and to the gateway. `cursor` is that of page 25,000. */
  request(cursor: string): { readonly path: string; readonly body?: object };
}

export const deepPage = 25_000;

export const range = { from: 50, to: 60 } as const;
export const rating = 4;

/** Some brands of the seeded catalogue. */
export const brands = ['Nordwick', 'Ashdale'] as const;
export const alternatives = [
  { brand: 'Nordwick', price: { lt: 20 } },
  { brand: 'Ashdale', rating: { gte: 4.5 } },
  { brand: 'Greyford' },
] as const;

export const cases: readonly Case[] = [
  { name: 'first page', request: () => ({ path: '/v1/products' }) },
  { name: `page ${deepPage}`, request: (cursor) => ({ path: `/v1/products?cursor=${cursor}` }) },
  {
    name: 'price range by price',
    request: () => ({ path: `/v1/products?price=gte:${range.from},lte:${range.to}&sort=price:asc` }),
  },
  {
    name: 'two brands, rating from 4',
    request: () => ({ path: `/v1/products?brand=${brands.join()}&rating=gte:${rating}` }),
  },
  {
    name: 'search, three or groups',
    request: () => ({
      path: '/v1/products/search',
      body: {
        filters: {
          or: alternatives.map(({ brand, ...others }) => ({ brand: { eq: brand }, ...others })),
        },
      },
    }),
  },
];
