// The checks that decide readiness, and the figures that are only reported.
import { describe, expect, it } from '@jest/globals';
import { createHealth } from '@shop/shared/runtime';

describe('readiness', () => {
  it('a process becomes unready when a check fails', async () => {
    const health = createHealth();
    health.add('database', () => Promise.reject(new Error('away')));
    expect(await health.report()).toEqual({ ready: false, checks: { database: 'failing' }, figures: {} });
  });

  it('a process stays ready and reports a figure that exceeds its limit or is unavailable', async () => {
    const health = createHealth();
    health.add('database', async () => {});
    health.tell('outboxLag', async () => 31, 30);
    health.tell('queue', () => Promise.reject(new Error('away')), 30);
    health.tell('fine', async () => 30, 30);
    expect(await health.report()).toEqual({
      ready: true,
      checks: { database: 'ok', outboxLag: 'failing', queue: 'failing', fine: 'ok' },
      figures: { outboxLag: 31, fine: 30 },
    });
  });

  it('a process becomes unready when it drains', async () => {
    const health = createHealth();
    health.drain();
    expect((await health.report()).ready).toBe(false);
  });
});
