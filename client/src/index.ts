// The typed client.
export type { components, operations, paths } from './contract.ts';
export {
  createShop,
  type Order,
  type Product,
  type ProductImport,
  type ProductLine,
  type Shop,
  type ShopOptions,
  type Walk,
} from './create-shop.ts';
export type { Criterion, OrderCriteria, ProductCriteria } from './criteria.ts';
export { type ProblemDocument, Refusal } from './refusal.ts';
export type { Tokens } from './session.ts';
