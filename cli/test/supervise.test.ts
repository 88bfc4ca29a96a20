// Supervision restarts a part with growing delays, until it is stopped.
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { type Run, supervise } from '../src/launcher/supervise.ts';

/** Runs whose start and end the test controls. */
function manualRuns() {
  const ends: ((reason: string) => void)[] = [];
  const launch = (): Run => {
    const { promise, resolve } = Promise.withResolvers<string>();
    ends.push(resolve);
    return {
      ready: Promise.resolve(),
      ended: promise,
      stop: async () => {
        resolve('stopped');
        await promise;
      },
    };
  };
  return { ends, launch };
}

const launched = async (ends: unknown[], count: number): Promise<void> => {
  await eventually(() => expect(ends).toHaveLength(count));
};

describe('a supervised part', () => {
  it('a supervised part is launched again after each end, with a growing delay up to the longest one', async () => {
    const { ends, launch } = manualRuns();
    const said: string[] = [];
    const part = supervise(launch, (line) => said.push(line), { first: 10, longest: 40, steady: 60_000 });
    for (let run = 0; run < 4; run += 1) {
      await launched(ends, run + 1);
      ends[run]?.(`cause ${run}`);
    }
    await launched(ends, 5);
    await eventually(() => expect(said.filter((line) => line === 'is ready again')).toHaveLength(4));
    expect(said.filter((line) => line !== 'is ready again')).toEqual([
      'ended (cause 0); starting it again in 0.01 s',
      'ended (cause 1); starting it again in 0.02 s',
      'ended (cause 2); starting it again in 0.04 s',
      'ended (cause 3); starting it again in 0.04 s',
    ]);
    await part.stop();
  });

  it('a supervised part is launched with the first delay again after a stable run', async () => {
    const { ends, launch } = manualRuns();
    const said: string[] = [];
    const part = supervise(launch, (line) => said.push(line), { first: 10, longest: 40, steady: 0 });
    for (let run = 0; run < 3; run += 1) {
      await launched(ends, run + 1);
      ends[run]?.('it');
    }
    await launched(ends, 4);
    expect(new Set(said.filter((line) => line.startsWith('ended')))).toEqual(
      new Set(['ended (it); starting it again in 0.01 s']),
    );
    await part.stop();
  });

  it('a supervised part is not launched again after it was stopped, also during a delay', async () => {
    const { ends, launch } = manualRuns();
    const said: string[] = [];
    const part = supervise(launch, (line) => said.push(line), { first: 60_000, longest: 60_000, steady: 60_000 });
    ends[0]?.('it');
    await eventually(() => expect(said).toHaveLength(1));
    await part.stop();
    expect(ends).toHaveLength(1);
  });

  it('a supervised part is launched without a delay by a restart, also during a delay', async () => {
    const { ends, launch } = manualRuns();
    const said: string[] = [];
    const part = supervise(launch, (line) => said.push(line), { first: 60_000, longest: 60_000, steady: 60_000 });
    await part.restart();
    await launched(ends, 2);
    expect(said.filter((line) => line.startsWith('ended'))).toEqual([]);
    ends[1]?.('it');
    await eventually(() => expect(said.filter((line) => line.startsWith('ended'))).toHaveLength(1));
    await part.restart();
    await launched(ends, 3);
    await part.stop();
  });

  it('a supervised part is not launched again when its first run does not become ready', async () => {
    let launches = 0;
    const launch = (): Run => {
      launches += 1;
      const ready = Promise.reject(new Error('no'));
      return { ready, ended: Promise.resolve('exit code 1'), stop: async () => {} };
    };
    const part = supervise(launch, () => {}, { first: 1, longest: 1, steady: 1 });
    await expect(part.ready).rejects.toThrow('no');
    await new Promise(setImmediate);
    expect(launches).toBe(1);
  });
});
