// The resource that an event changed, and who sees the change.
import { type EventPayloads, type EventType, type HandlersOf, PoisonError } from '@shop/shared/events';

/** The types of events that the feed shows. */
export type FeedEventType = keyof HandlersOf<'changes.feed'> & EventType;

export type Kind = 'account' | 'discount' | 'order' | 'product' | 'return' | 'shipping-method' | 'tax-rate';

export interface ChangedResource {
  readonly kind: Kind;
  readonly id: string;
  /** The account that owns the resource and sees its changes. Undefined for one without an owner. */
  readonly accountId?: string;
  /** Whether everybody sees the resource after the change. Undefined when the event does not say so. */
  readonly isPublic?: boolean;
  /** What everybody may read of the event. */
  readonly data?: object;
}

interface Owned {
  readonly accountId: string;
}

const account = ({ accountId }: Owned): ChangedResource => ({ kind: 'account', id: accountId, accountId });

const order = ({ orderId, accountId }: Owned & { readonly orderId: string }): ChangedResource => ({
  kind: 'order',
  id: orderId,
  accountId,
});

const returned = ({ returnId, accountId }: Owned & { readonly returnId: string }): ChangedResource => ({
  kind: 'return',
  id: returnId,
  accountId,
});

function product(data: EventPayloads['product.updated.v1']): ChangedResource {
  const { productId: id, status, sku: _, ...others } = data;
  const isPublic = status !== 'pending';
  return { kind: 'product', id, isPublic, ...(isPublic && { data: { productId: id, status, ...others } }) };
}

/** Everybody sees shipping methods. */
function setting({ settingId: id, kind, archived }: EventPayloads['setting.changed.v1']): ChangedResource {
  if (kind === 'shipping-method') return { kind, id, isPublic: !archived };
  if (kind === 'tax-rate' || kind === 'discount') return { kind, id };
  throw new PoisonError(`the feed has no resource for the setting ${kind}`);
}

const resources: { readonly [Type in FeedEventType]: (data: EventPayloads[Type]) => ChangedResource } = {
  'account.registered.v1': account,
  'account.updated.v1': account,
  'account.erased.v1': account,
  'order.created.v1': order,
  'order.processing.v1': order,
  'order.shipped.v1': order,
  'order.delivered.v1': order,
  'order.cancelled.v1': order,
  'order.lines-cancelled.v1': order,
  'order.paid.v1': order,
  'order.returned.v1': order,
  'order.updated.v1': order,
  'invoice.issued.v1': order,
  'refund.due.v1': order,
  'refund.done.v1': order,
  'return.requested.v1': returned,
  'return.approved.v1': returned,
  'return.refused.v1': returned,
  'return.withdrawn.v1': returned,
  'return.received.v1': returned,
  'return.updated.v1': returned,
  'setting.changed.v1': setting,
  'product.created.v1': product,
  'product.updated.v1': product,
  'product.archived.v1': ({ productId: id }) => ({ kind: 'product', id, isPublic: false }),
  'stock.changed.v1': (data) => ({ kind: 'product', id: data.productId, data }),
  'stock.low.v1': ({ productId: id }) => ({ kind: 'product', id }),
};

/** Returns the resource that an event of the type changed. */
export function toChangedResource<Type extends FeedEventType>(type: Type, data: EventPayloads[Type]): ChangedResource {
  return resources[type](data);
}
