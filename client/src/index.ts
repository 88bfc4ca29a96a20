// The typed client.
export type { Answer, Calls, Data, Failure, OperationId } from './call.ts';
export {
  type Cart,
  type CartOptions,
  type CartState,
  type CartTerms,
  type Quote,
  UnknownOutcomeError,
} from './cart.ts';
export type { CartStorage } from './cart-storage.ts';
export type { components, operations, paths } from './contract.ts';
export { type Account, createShop, type ListPath, type Shop, type ShopOptions } from './create-shop.ts';
export type { Conditions, Criterion, OrderCriteria, ProductCriteria } from './criteria.ts';
export type { Change, ChangePage, ChangesOptions, Followed, FollowedState, FollowOptions } from './follow.ts';
export type { ImportOptions, ProductImport, ProductLine } from './import-products.ts';
export type { List, ListOptions, Order, PageOptions, Product, Sort } from './list.ts';
export type { CallOptions, ChangeOptions, Operate } from './operate.ts';
export type { Operations } from './operations.ts';
export type { Cancellation, NewOrder, Orders } from './orders.ts';
export type { MachineCredentials, Tokens } from './session.ts';
export { isShopError, type ProblemCode, type ProblemDocument, type Refusal, ShopError } from './shop-error.ts';
export { type OrderEffect, type OrderStatus, WaitError, type WaitOptions } from './wait-for-order.ts';
