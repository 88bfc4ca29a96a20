import { type AccessRules, unlessAbsent } from '@shop/shared/testing';

export const product = { name: 'A', brand: 'B', category: 'C', price: 1, status: 'active' };

export const accessRules: AccessRules = {
  listProducts: { public: true, expected: () => 200 },
  searchProducts: { public: true, body: () => ({}), expected: () => 200 },
  importProducts: {
    scope: 'catalogue:write',
    body: () => '{}',
    mediaType: 'application/x-ndjson',
    expected: () => 202,
  },
  getProductImport: { resource: 'import', scope: 'catalogue:write', expected: unlessAbsent(200) },
  listBrands: { public: true, expected: () => 200 },
  listCategories: { public: true, expected: () => 200 },
  getProduct: { resource: 'product', public: true, expected: unlessAbsent(200) },
  createProduct: { scope: 'catalogue:write', body: () => product, expected: () => 201 },
  updateProduct: {
    resource: 'product',
    scope: 'catalogue:write',
    body: () => ({ name: 'A2' }),
    expected: unlessAbsent(200),
  },
  archiveProduct: { resource: 'product', scope: 'catalogue:write', expected: unlessAbsent(204) },
  listProductHistory: { resource: 'product', scope: 'catalogue:write', expected: unlessAbsent(200) },
  getStock: { resource: 'product', scope: 'catalogue:write', expected: unlessAbsent(200) },
};
