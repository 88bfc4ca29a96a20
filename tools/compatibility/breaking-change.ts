// What the gate reports, and where a comparison is in a contract.
import { toNode } from '@shop/shared/contract';

/** A change that breaks a client, a consumer of events, an operator's script or a dashboard. */
export interface BreakingChange {
  /** The name by which CHANGELOG.md has to mention it, such as an operationId, a component, an event or a setting. */
  readonly subject: string;
  /** The place and the change, in words. */
  readonly text: string;
}

export interface Place {
  readonly subject: string;
  /** The place in words, such as "query parameter limit of GET /v1/orders". */
  readonly words: string;
  /** Of a place in a component: the place that first refers to the component. */
  readonly usedBy?: string;
}

/** Returns a place within another one: "member name of …". */
export function within(place: Place, part: string): Place {
  return { ...place, words: `${part} of ${place.words}` };
}

/**
 * Returns the place of a component, if both sides refer to the component of the same name; otherwise the place that
 * refers to it.
 */
export function componentAt(before: unknown, after: unknown, place: Place, kind: string): Place {
  const [reference, same] = [toNode(before).$ref, toNode(after).$ref];
  if (typeof reference !== 'string' || reference !== same) return place;
  const subject = reference.slice(reference.lastIndexOf('/') + 1);
  return { subject, words: `${kind} ${subject}`, usedBy: place.usedBy ?? place.words };
}

export function changeAt({ subject, words, usedBy }: Place, change: string): BreakingChange {
  return { subject, text: `${words}: ${change}${usedBy === undefined ? '' : ` (in ${usedBy})`}` };
}
