// A service process of the usual build with one order in it, for tests that stop and start whole processes.
import { fileURLToPath } from 'node:url';
import { createTokenVerifier } from '@shop/shared/auth';
import { createApp, loadContract, serve } from '@shop/shared/http';
import { createHealth, runProcess } from '@shop/shared/runtime';

await runProcess('replica', async (life) => {
  const { log } = life;
  const health = createHealth();
  const jwksUrl = process.env.JWKS_URL ?? '';
  const verifier = createTokenVerifier({ jwksUrl, issuer: 'https://shop.test', audience: 'shop', log });
  life.onStop('token verifier', () => verifier.close());
  const contract = loadContract(fileURLToPath(new URL('../../gateway/test/config/replica.yaml', import.meta.url)));
  const answer = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return { status: 200, body: { status: 'pending' } };
  };
  const operations = { getOrder: answer, createOrder: answer };
  const app = createApp({ name: 'replica', contract, operations, context: {}, verifier, health, log });
  await serve(app, { host: '127.0.0.1', port: Number(process.env.PORT), health, life });
});
