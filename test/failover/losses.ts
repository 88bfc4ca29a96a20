// Findings of the doctor as texts, with names in place of ids.
import type { Finding } from './shop.ts';

/** @param names id → name */
export function textsOf(findings: readonly Finding[], names: Readonly<Record<string, string>>): string[] {
  return findings
    .map(({ check, state, detail }) => {
      const named = Object.entries(names).reduce((text, [id, name]) => text.replaceAll(id, name), detail);
      return `${state} ${check}: ${named.replaceAll(/ \(event \S+\)/g, '').replaceAll(/[0-9a-f]{8}(-[0-9a-f]+){4}/g, 'ID')}`;
    })
    .sort();
}

/** The texts of losses that a repair has just repaired. */
export function repairedTextsOf(losses: readonly string[]): string[] {
  const done: Readonly<Record<string, string>> = {
    'lost account change': 'its present state is published; tell the holder to repeat the change',
    'lost cancellation': 'it is cancelled again',
    'lost effect': 'it is in the queue again',
    'lost event': 'the dead letter is deleted',
    'lost order': 'its stock is released; tell the customer that the order does not exist',
    'lost reservation': 'its stock is reserved again',
  };
  return losses.map((loss) => `ok ${loss}: ${done[loss.split(':')[0] ?? '']}`);
}

/** Milliseconds after its publication for which the doctor takes an event as in progress, with some more. */
export const inProgress = 16_000;
