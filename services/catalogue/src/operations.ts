// All operations of the catalogue: operationId → function.

import type { Operation } from './context.ts';
import type { operations as contract } from './generated.ts';
import { allocateStock } from './operations/allocate-stock.ts';
import { archiveProduct } from './operations/archive-product.ts';
import { createProduct } from './operations/create-product.ts';
import { getProduct } from './operations/get-product.ts';
import { getProductImport } from './operations/get-product-import.ts';
import { getStock } from './operations/get-stock.ts';
import { importProducts } from './operations/import-products.ts';
import { listBrands } from './operations/list-brands.ts';
import { listCategories } from './operations/list-categories.ts';
import { listProductHistory } from './operations/list-product-history.ts';
import { listProducts } from './operations/list-products.ts';
import { priceProducts } from './operations/price-products.ts';
import { releaseReservation } from './operations/release-reservation.ts';
import { reserveStock } from './operations/reserve-stock.ts';
import { searchProducts } from './operations/search-products.ts';
import { traceReservation } from './operations/trace-reservation.ts';
import { updateProduct } from './operations/update-product.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id> } = {
  listProducts,
  searchProducts,
  importProducts,
  getProductImport,
  listBrands,
  listCategories,
  getProduct,
  createProduct,
  updateProduct,
  archiveProduct,
  listProductHistory,
  getStock,
  priceProducts,
  reserveStock,
  releaseReservation,
  allocateStock,
  traceReservation,
};
