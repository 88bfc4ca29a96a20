// All operations of the catalogue: operationId → function.
import { allocateStock } from './allocate-stock.ts';
import { archiveProduct } from './archive-product.ts';
import type { Operation } from './context.ts';
import { createProduct } from './create-product.ts';
import type { operations as contract } from './generated.ts';
import { getProduct } from './get-product.ts';
import { getProductImport } from './get-product-import.ts';
import { getStock } from './get-stock.ts';
import { importProducts } from './import-products.ts';
import { listBrands } from './list-brands.ts';
import { listCategories } from './list-categories.ts';
import { listProductHistory } from './list-product-history.ts';
import { listProducts } from './list-products.ts';
import { releaseReservation } from './release-reservation.ts';
import { reserveStock } from './reserve-stock.ts';
import { searchProducts } from './search-products.ts';
import { traceReservation } from './trace-reservation.ts';
import { updateProduct } from './update-product.ts';

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
  reserveStock,
  releaseReservation,
  allocateStock,
  traceReservation,
};
