// The semaphore for password hashes: its bounds, and who waits for whom.
import { expect, it } from '@jest/globals';
import { Problem } from '@shop/shared/problem';
import { Semaphore, type Waiter } from '../src/session/semaphore.ts';

/** A semaphore whose calls run until the test finishes them. */
function observed(options: Partial<ConstructorParameters<typeof Semaphore>[0]> = {}) {
  const semaphore = new Semaphore({ running: 1, waiting: 8, ...options });
  const started: string[] = [];
  const refused: string[] = [];
  const finish = new Map<string, () => void>();
  const call = (name: string, waiter: Partial<Waiter> = {}): void => {
    const { network = 'one', isKnown = false, signal = new AbortController().signal, maximumWait = 60_000 } = waiter;
    const work = () => {
      started.push(name);
      return new Promise<void>((resolve) => finish.set(name, resolve));
    };
    semaphore.run({ network, isKnown, maximumWait, signal }, work).catch((error: unknown) => {
      expect(error).toBeInstanceOf(Problem);
      refused.push(name);
    });
  };
  /** Finishes the running call, until no further one starts. */
  const finishAll = async (): Promise<void> => {
    for (let next = 0; next < started.length; next += 1) {
      await settled();
      finish.get(started[next] ?? '')?.();
      await settled();
    }
  };
  return { semaphore, started, refused, call, finishAll };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

it('the semaphore runs calls up to its limit concurrently, the others in their order, and continues after a failure', async () => {
  const { semaphore, started, call, finishAll } = observed({ running: 2 });
  const waiter = { network: 'one', isKnown: false, maximumWait: 60_000, signal: new AbortController().signal };
  const failing = semaphore.run(waiter, async () => {
    await settled();
    throw new Error('failed');
  });
  for (const name of ['a', 'b', 'c']) call(name);
  expect(started).toEqual(['a']);
  await expect(failing).rejects.toThrow('failed');
  await settled();
  expect(started).toEqual(['a', 'b']);
  await finishAll();
  expect(started).toEqual(['a', 'b', 'c']);
  call('d');
  expect(started).toContain('d');
});

it('the semaphore rejects a call that has waited for the maximum time, and never runs it', async () => {
  const { started, refused, call, finishAll } = observed();
  call('a');
  call('b', { maximumWait: 5 });
  while (refused.length === 0) await settled();
  await finishAll();
  expect([started, refused]).toEqual([['a'], ['b']]);
});

it('the semaphore drops a call whose client leaves, and one whose client has left', async () => {
  const { started, refused, call, finishAll } = observed();
  const leaving = new AbortController();
  call('a');
  call('b', { signal: leaving.signal });
  call('c');
  leaving.abort();
  call('d', { signal: leaving.signal });
  await finishAll();
  expect([started, refused.sort()]).toEqual([
    ['a', 'c'],
    ['b', 'd'],
  ]);
});

it('the semaphore serves networks in rotation', async () => {
  const { started, call, finishAll } = observed();
  for (const name of names('a', 5)) call(name, { network: 'one' });
  for (const name of names('b', 2)) call(name, { network: 'two' });
  call('c0', { network: 'three' });
  await finishAll();
  expect(started).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'b1', 'a3', 'a4']);
});

it('the semaphore serves known clients every second time, whatever the number of networks', async () => {
  const { started, call, finishAll } = observed();
  for (const name of names('stranger', 5)) call(name, { network: name });
  call('known0', { isKnown: true, network: 'stranger1' });
  call('known1', { isKnown: true, network: 'one' });
  await finishAll();
  const places = ['known0', 'known1'].map((name) => started.indexOf(name));
  expect(Math.max(...places)).toBeLessThanOrEqual(4);
  expect(started).toHaveLength(7);
});

it('known clients cannot exclude the others from the semaphore', async () => {
  const { started, call, finishAll } = observed();
  for (const name of names('known', 6)) call(name, { isKnown: true, network: name });
  call('stranger');
  await finishAll();
  expect(started.indexOf('stranger')).toBeLessThanOrEqual(2);
});

it('the semaphore rejects the newest call of the network with most calls for a call of another network', async () => {
  const { refused, call, finishAll } = observed({ waiting: 3 });
  for (const name of names('a', 4)) call(name, { network: 'one' });
  call('b0', { network: 'two' });
  await settled();
  expect(refused).toEqual(['a3']);
  call('a4', { network: 'one' });
  call('c0', { network: 'three' });
  call('d0', { network: 'four' });
  await settled();
  expect(refused.sort()).toEqual(['a2', 'a3', 'a4', 'd0']);
  await finishAll();
});

it('the semaphore reserves slots for known clients, also when every unknown client has another network', async () => {
  const { refused, call, finishAll } = observed({ waiting: 4 });
  call('running');
  for (const name of names('stranger', 4)) call(name, { network: name });
  for (const name of names('known', 3)) call(name, { isKnown: true, network: name });
  await settled();
  expect(refused.sort()).toEqual(['known2', 'stranger0', 'stranger1']);
  await finishAll();
});
