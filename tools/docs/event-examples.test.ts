// The events in the guides are valid by their schemas.
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { parseEvent } from '../../shared/src/events/event.ts';

const guide = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
const examples = [...guide.matchAll(/^```json\n(.*?)\n```$/gms)].map(([, content = '']) => content);

it('the guides show events with all required members', () => {
  expect(examples.map((example) => parseEvent(example).type)).toEqual(['order.cancelled.v1']);
});
