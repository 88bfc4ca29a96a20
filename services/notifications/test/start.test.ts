// The process of notifications: how it starts, and when it refuses to start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { plainEnvironment, serviceFolder, startServices, type TestServices } from '@shop/shared/testing';

describe('the notifications process', () => {
  let services: TestServices;
  beforeAll(async () => {
    services = await startServices(['notifications'], { shared: false });
  });
  afterAll(() => services?.stop());

  const run = async (environment: Record<string, string>) => {
    const child = spawn(process.execPath, [`${serviceFolder('notifications')}/src/main.ts`], {
      env: { ...plainEnvironment(), LOG_LEVEL: 'silent', ...environment },
    });
    const lines: string[] = [];
    child.stderr.on('data', (data) => lines.push(String(data)));
    const [code] = await once(child, 'exit');
    return { code, lines: lines.join('').trim().split('\n') };
  };
  const whole = () => ({
    DATABASE_URL: services.database.urls.notifications,
    EVENTS_URL: services.database.urls.events,
    PORT: '0',
    JWKS_URL: services.issuer.jwksUrl,
    JWT_ISSUER: services.issuer.issuer,
    JWT_AUDIENCE: services.issuer.audience,
    INTERNAL_SECRET: 'only-for-tests-only-for-tests-only-for-tests',
  });

  it('the notifications process is ready when the database and the broker are ready', async () => {
    const { status, body } = await services.service('notifications').client.get('/health/ready');
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ready',
      checks: { database: 'ok', outboxLag: 'ok', events: 'ok' },
      figures: { outboxLag: expect.any(Number) },
    });
  });

  it('the notifications process returns 404 at every other path', async () => {
    expect((await services.service('notifications').client.get('/v1/orders')).status).toBe(404);
  });

  it('the notifications process names every configuration error in its environment', async () => {
    const { code, lines } = await run({
      PORT: 'x',
      DRAIN_MS: 'long',
      SMTP_URL: 'http://mail',
      MAIL_FROM: 'Shop <a@b>',
    });
    expect(code).toBe(1);
    expect(lines).toEqual([
      'notifications: DATABASE_URL is required',
      'notifications: EVENTS_URL is required',
      expect.stringContaining('PORT must be a whole number'),
      'notifications: DRAIN_MS must be a whole number from 0 to 8000, not "long"',
      expect.stringContaining('SMTP_URL must be a URL'),
      expect.stringContaining('MAIL_FROM must be an e-mail address'),
      'notifications: JWKS_URL is required',
      'notifications: JWT_ISSUER is required',
      'notifications: JWT_AUDIENCE is required',
      'notifications: INTERNAL_SECRET is required',
    ]);
  });

  it('the notifications process rejects a mail folder that cannot be written', async () => {
    const { code, lines } = await run({ ...whole(), MAIL_DIR: '/dev/null/mail' });
    expect(code).toBe(1);
    expect(lines).toEqual(['notifications: cannot write to the mail folder /dev/null/mail (ENOTDIR)']);
  });

  it('the notifications process waits until its schema is migrated, and logs the reason', async () => {
    const child = spawn(process.execPath, [`${serviceFolder('notifications')}/src/main.ts`], {
      env: { ...plainEnvironment(), ...whole(), DATABASE_URL: services.database.urls.orders },
    });
    let said = '';
    for await (const chunk of child.stdout) {
      said += String(chunk);
      if (said.includes('migrations are missing: shared/0001_events.sql')) child.kill('SIGTERM');
    }
    expect(said).toContain('stopping: SIGTERM');
    expect(said).not.toContain('listening');
  });
});
