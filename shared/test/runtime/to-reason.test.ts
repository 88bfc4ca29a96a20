// The text of any thrown or emitted value.
import { describe, expect, it } from '@jest/globals';
import { toReason } from '../../src/runtime/to-reason.ts';

describe('the reason in a message', () => {
  it.each([
    [new Error('the disk is full'), 'the disk is full'],
    [Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [new TypeError(''), 'TypeError'],
    [new AggregateError([new Error('one'), { message: 'two' }]), 'one, two'],
    [{ message: 'the connection was lost', queue: 'mail', worker: 'a1' }, 'the connection was lost'],
    [{ code: '57P01', detail: 'kim@example.com' }, '57P01'],
    [{ email: 'kim@example.com', table: 'orders' }, 'an object with the members email, table'],
    ['a text', 'a text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [Object.create(null), 'an object with the members '],
    [Symbol('secret'), 'symbol'],
  ])('the reason in a message of %p is %j', (value, reason) => {
    expect(toReason(value)).toBe(reason);
  });
});
