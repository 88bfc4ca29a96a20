// The Redis of the gateways' shared limits is killed, started again and suspended. Each gateway then counts requests
// alone, and no request is refused.
import { Redis } from 'ioredis';
import { type Fault, pause, seen } from '../outages/fault.ts';
import type { Supervised } from '../outages/supervised.ts';
import type { ClusterSystem } from './system.ts';

/** Milliseconds for which Redis is unavailable. */
const lasting = 6_000;

type Act = (system: ClusterSystem) => Promise<void>;

function unavailable(name: string, begin: Act, end: Act): Fault<ClusterSystem> {
  return {
    name,
    interrupts: 'nothing',
    async inject({ system }) {
      const gateways = system.processes('gateway');
      const before = await countersIn(system);
      await begin(system);
      const alone = await seen(() => gateways.every((gateway) => lastLogged(gateway) === 'alone'));
      await pause(lasting);
      await end(system);
      if (!alone || before === 0) return undefined;
      const together = await seen(() => gateways.every((gateway) => lastLogged(gateway) === 'together'));
      if (!together || !(await seen(async () => (await countersIn(system)) > 0)))
        throw new Error('the gateways did not count together again');
      return 'both gateways counted alone, and then together again';
    },
  };
}

/** Returns how a gateway counts according to the last line of its log about it. */
function lastLogged(gateway: Supervised): 'alone' | 'together' | undefined {
  const output = gateway.output();
  const [alone, together] = ['counts requests alone', 'counted together again'].map((line) => output.lastIndexOf(line));
  if (alone === together) return undefined;
  return Number(alone) > Number(together) ? 'alone' : 'together';
}

async function countersIn({ redis }: ClusterSystem): Promise<number> {
  const client = new Redis(redis.url);
  client.on('error', () => {});
  try {
    return await client.dbsize();
  } finally {
    client.disconnect();
  }
}

export const redisFaults: readonly Fault<ClusterSystem>[] = [
  unavailable(
    'Redis is killed and started again',
    ({ redis }) => redis.signal('SIGKILL'),
    ({ redis }) => redis.start(),
  ),
  unavailable(
    'Redis hangs',
    ({ redis }) => redis.signal('SIGSTOP'),
    ({ redis }) => redis.signal('SIGCONT'),
  ),
];
