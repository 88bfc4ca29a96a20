// The limit of registrations, as the configuration of the shop states it.
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { startGateway } from '../start-gateway.ts';

it('a client network registers 20 accounts together, 60 an hour, whatever its addresses are', async () => {
  const folder = fileURLToPath(new URL('../../config', import.meta.url));
  const gateway = await startGateway({ TRUSTED_PROXIES: '1', GATEWAY_CONFIG_DIR: folder });
  try {
    const register = (index: number, address: string) => {
      const body = { name: 'Kim', email: `kim${index}@shop.test`, password: 'a long and quiet river' };
      return gateway.client.post('/v1/accounts', { body, headers: { 'X-Forwarded-For': address } });
    };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => register(index, `2001:db8:0:1::${index + 1}`)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    const { headers } = refused[0] ?? {};
    expect(headers?.['ratelimit-policy']).toBe('"steady";q=20;w=1200');
    expect(Number(headers?.['retry-after'])).toBeGreaterThan(1_100);
    expect((await register(31, '2001:db8:0:2::1')).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
