// The events that the guides show, against what the shop takes for an event.
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { parseEvent } from '../../shared/src/events/event.ts';

const guide = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
const examples = [...guide.matchAll(/^```json\n(.*?)\n```$/gms)].map(([, content = '']) => content);

it('shows events that have all that their type requires', () => {
  expect(examples.map((example) => parseEvent(example).type)).toEqual(['order.cancelled.v1']);
});
