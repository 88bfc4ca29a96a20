// Calls from one service to another: permitted callers, services and requests.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createServiceTokens } from '../../src/auth/index.ts';

const secret = 'only-for-tests-only-for-tests-only-for-tests';
const orders = createServiceTokens({ secrets: [secret], name: 'orders' });
const catalogue = createServiceTokens({ secrets: [secret], name: 'catalogue' });
const refused = { code: 'unauthenticated', status: 401 };
const call = { method: 'POST', path: '/internal/reservations', body: '{"quantity":1}' };

const thrown = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a service token', () => {
  it('a service token is accepted by its audience', () => {
    expect(() => catalogue.verify(orders.sign('catalogue', call), 'catalogue', call)).not.toThrow();
  });

  it('a service token covers a body as a string and as bytes alike', () => {
    const bytes = { ...call, body: Buffer.from(call.body) };
    expect(() => catalogue.verify(orders.sign('catalogue', call), 'catalogue', bytes)).not.toThrow();
  });

  it.each([-1, 1])('a service token is valid for a service whose clock is %d hours off', (hours) => {
    const token = orders.sign('catalogue', call);
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now + hours * 3_600_000);
    expect(() => catalogue.verify(token, 'catalogue', call)).not.toThrow();
  });

  it('a service token is rejected by any other audience', () => {
    expect(thrown(() => catalogue.verify(orders.sign('accounts', call), 'catalogue', call))).toMatchObject(refused);
  });

  it.each([
    ['another body', { body: '{"quantity":2}' }],
    ['no body', { body: '' }],
    ['another path', { path: '/internal/reservations/1/release' }],
    ['another method', { method: 'PUT' }],
    ['a line moved into the body', { path: '/internal', body: `reservations\n${call.body}` }],
  ])('a service token is rejected with %s', (_name, other) => {
    const token = orders.sign('catalogue', call);
    expect(thrown(() => catalogue.verify(token, 'catalogue', { ...call, ...other }))).toMatchObject(refused);
  });

  it('a service token is rejected under another name', () => {
    const token = orders.sign('catalogue', call).replace('orders', 'accounts');
    expect(thrown(() => catalogue.verify(token, 'catalogue', call))).toMatchObject(refused);
  });

  it('a service token is rejected with another secret', () => {
    const token = createServiceTokens({ secrets: ['x'.repeat(40)], name: 'orders' }).sign('catalogue', call);
    expect(thrown(() => catalogue.verify(token, 'catalogue', call))).toMatchObject(refused);
  });

  it.each([undefined, '', 'Bearer', 'Bearer orders', 'Bearer orders.x', `Basic orders.${'x'.repeat(43)}`])(
    'a service token is not %s',
    (authorization) => {
      expect(thrown(() => catalogue.verify(authorization, 'catalogue', call))).toMatchObject(refused);
    },
  );

  it('a service token needs a secret of 32 bytes', () => {
    expect(() => createServiceTokens({ secrets: ['short'], name: 'orders' })).toThrow('32 bytes');
  });
});
