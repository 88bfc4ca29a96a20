// The book of stock: a line for every change, written in the transaction that makes it.
import { sql } from '@shop/shared/database';
import type { Transaction } from 'sequelize';

export interface StockChange {
  readonly productId: string;
  readonly kind: 'received' | 'reserved' | 'released' | 'shipped';
  /** Signed; nothing is written for 0. */
  readonly quantity: number;
  readonly reservationId?: string;
  readonly orderId?: string;
}

export async function enterStockChange(tx: Transaction, change: StockChange): Promise<void> {
  if (change.quantity === 0) return;
  await sql(
    tx,
    'INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, order_id) VALUES ($1, $2, $3, $4, $5)',
    [change.productId, change.kind, change.quantity, change.reservationId ?? null, change.orderId ?? null],
  );
}
