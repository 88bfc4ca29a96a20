// Products for tests, created over HTTP as staff creates them.
import type { TestServices } from '@shop/shared/testing';

export interface SampleProduct {
  name: string;
  brand?: string;
  category?: string;
  price?: number;
  rating?: number;
  description?: string;
  status?: string;
  stock?: number;
  lowStockThreshold?: number;
  attributes?: Readonly<Record<string, string | number>>;
}

export function staffToken({ issuer }: TestServices): Promise<string> {
  return issuer.sign({ scopes: ['catalogue:write'] });
}

/** Adds products one after the other and returns their ids. */
export async function addProducts(services: TestServices, products: readonly SampleProduct[]): Promise<string[]> {
  const token = await staffToken(services);
  const ids: string[] = [];
  for (const product of products) {
    const answer = await services.service('catalogue').client.post('/v1/products', {
      token,
      body: { brand: 'Acme', category: 'things', price: 10, ...product },
    });
    if (answer.status !== 201) throw new Error(answer.text);
    ids.push(answer.body.id);
  }
  return ids;
}
