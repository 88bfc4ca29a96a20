// The typed client.
export type { Answer, Calls, Data, Failure, OperationId } from './call.ts';
export type { components, operations, paths } from './contract.ts';
export { createShop, type ListPath, type Product, type Shop, type ShopOptions } from './create-shop.ts';
export type { Criterion, OrderCriteria, ProductCriteria } from './criteria.ts';
export type { ImportOptions, ProductImport, ProductLine } from './import-products.ts';
export type { ListOptions } from './list-options.ts';
export type { Cancellation, ChangeOptions, NewOrder, Order, Orders } from './orders.ts';
export type { Tokens } from './session.ts';
export { isShopError, type ProblemCode, type ProblemDocument, ShopError } from './shop-error.ts';
export { type OrderEffect, type OrderStatus, WaitError, type WaitOptions } from './wait-for-order.ts';
