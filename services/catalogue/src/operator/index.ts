// The operator's functions for products and stock. The command line calls these functions in its own process.
export { allocateStock } from './allocate-stock.ts';
export { exportProducts } from './export-products.ts';
export { type ImportResult, importProducts } from './import-products.ts';
export { type AccountHold, listHolds } from './list-holds.ts';
export { listProductHistory, type RecordedChange } from './list-product-history.ts';
export { type RebuiltSearch, rebuildSearch } from './rebuild-search.ts';
export { seedDemo, seedProducts } from './seed.ts';
export { traceReservation } from './trace-reservation.ts';
export { type StockFault, type StockReport, verifyStock } from './verify-stock.ts';
