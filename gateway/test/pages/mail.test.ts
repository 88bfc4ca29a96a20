// The e-mails of a shop on this machine: who reads them, what a page shows, and that nothing else can be read.
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isFromThisMachine } from '../../../web/src/mail/local-client.ts';
import { sendRaw } from '../raw.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const config = fileURLToPath(new URL('../../config', import.meta.url));
const key = 'a-key-of-at-least-32-characters-1234';
const hostile = '<img src=x onerror=alert(1)>';

let parent: string;
let folder: string;
let gateway: TestGateway;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'shop-mail-page-'));
  folder = join(parent, 'mail');
  await mkdir(join(folder, 'folder.eml'), { recursive: true });
  await write('01.order-received', 10, {
    subject: 'An order',
    html: '<!doctype html><html><body><p>One</p></body></html>',
  });
  await write('02.email-verification', 20, { subject: hostile, html: `<p>Two</p>${hostile}` });
  await writeFile(join(folder, '.03.partial'), 'incomplete');
  await writeFile(join(parent, 'secret.eml'), 'Subject: secret\r\n\r\nsecret');
  await symlink(join(parent, 'secret.eml'), join(folder, 'link.eml'));
  gateway = await startGateway({ GATEWAY_CONFIG_DIR: config, MAIL_PAGE_DIR: folder, MAIL_PAGE_KEY: key });
});
afterAll(async () => {
  await gateway?.stop();
  await rm(parent, { recursive: true, force: true });
});

async function write(name: string, second: number, parts: { subject: string; html: string }): Promise<void> {
  const path = join(folder, `${name}.eml`);
  const lines = [
    'From: Shop <orders@shop.example>',
    'To: Kim <kim@example.com>',
    `Subject: ${parts.subject}`,
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    `As text ${hostile}`,
    '--b',
    'Content-Type: text/html; charset=utf-8',
    '',
    parts.html,
    '--b--',
    '',
  ];
  await writeFile(path, lines.join('\r\n'));
  await utimes(path, second, second);
}

async function read(path: string): Promise<{ status: number; text: string; policy: string }> {
  const answer = await fetch(`${gateway.url}${path}?key=${key}`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  return { status: answer.status, text: await answer.text(), policy };
}

describe('/mail', () => {
  it('/mail lists the e-mails, the newest first', async () => {
    const { status, text, policy } = await read('/mail');
    expect(status).toBe(200);
    expect([...text.matchAll(/<a href="\/mail\/([^"]+)">/g)].map(([, name]) => name)).toEqual([
      '02.email-verification',
      '01.order-received',
    ]);
    expect(text).toContain('Kim &lt;kim@example.com&gt;');
    expect(text).toContain('<time datetime="1970-01-01T00:00:20.000Z">1970-01-01 00:00:20</time>');
    expect(text).not.toContain(hostile);
    expect(policy).not.toMatch(/unsafe|\*|frame-src/);
  });

  it('/mail lists 100 e-mails, and counts the older ones', async () => {
    for (let number = 0; number < 100; number += 1)
      await write(`many-${number}`, number, { subject: 'Many', html: '' });
    const { text } = await read('/mail');
    expect(text.match(/data-label="Subject"/g)).toHaveLength(100);
    expect(text).toContain('2 older e-mails are not listed.');
  });

  it('/mail lists a file that is not an e-mail', async () => {
    const nested = Array.from(
      { length: 300 },
      (_, depth) => `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n`,
    );
    await writeFile(join(folder, 'nested.eml'), nested.join(''));
    const { status, text } = await read('/mail');
    expect([status, text.match(/This file is no e-mail: /g)]).toEqual([200, ['This file is no e-mail: ']]);
  });

  it('/mail is empty when the folder does not exist, and returns 404 behind a proxy', async () => {
    const settings = { GATEWAY_CONFIG_DIR: config, MAIL_PAGE_DIR: folder, MAIL_PAGE_KEY: key };
    const missing = await startGateway({ ...settings, MAIL_PAGE_DIR: join(folder, 'none') });
    const behind = await startGateway({ ...settings, TRUSTED_PROXIES: '1' });
    const statuses = await Promise.all(
      [missing, behind].map(async ({ url }) => (await fetch(`${url}/mail?key=${key}`)).status),
    );
    await Promise.all([missing, behind].map((one) => one.stop()));
    expect(statuses).toEqual([200, 404]);
  });

  it('/mail supports only methods that read', async () => {
    const ask = (method: string) => fetch(`${gateway.url}/mail?key=${key}`, { method });
    expect([(await ask('HEAD')).status, (await ask('OPTIONS')).status, (await ask('POST')).status]).toEqual([
      200, 204, 405,
    ]);
  });
});

describe('/mail/NAME', () => {
  it('/mail/NAME shows fields and text as text, and the HTML in a frame', async () => {
    const { text, policy } = await read('/mail/02.email-verification');
    expect(text).not.toContain(hostile);
    expect(text).toContain('As text &lt;img src=x');
    expect(text).toContain(
      'src="/mail/02.email-verification/html" sandbox="allow-popups allow-popups-to-escape-sandbox"',
    );
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*/);
  });

  it('/mail/NAME has the HTML with neither scripts nor requests nor an origin', async () => {
    const { status, text, policy } = await read('/mail/01.order-received/html');
    expect([status, text.trim()]).toEqual([
      200,
      '<!doctype html><base target="_blank"><html><body><p>One</p></body></html>',
    ]);
    expect(policy).toMatch(/^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; /);
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).not.toMatch(/allow-scripts|allow-same-origin|script-src|connect-src/);
    expect((await read('/mail/02.email-verification/html')).text).toMatch(/^<base target="_blank"><p>Two/);
  });

  it.each([
    '/mail/unknown',
    '/mail/link',
    '/mail/folder',
    '/mail/.03.partial',
    '/mail/01.order-received/text',
    '/mail/01.order-received.eml',
  ])('/mail/NAME returns 404 for %s', async (path) => {
    expect((await read(path)).status).toBe(404);
  });

  it.each([
    '/mail/../secret',
    '/mail/..%2fsecret',
    '/mail/..%2Fsecret/html',
    '/mail/%2e%2e/secret',
    '/mail/..\\secret',
  ])('/mail/NAME cannot leave the folder by %s', async (path) => {
    const request = `GET ${path}?key=${key} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    const [answer] = (await sendRaw(gateway.port, request)).answers;
    expect([400, 404]).toContain(answer?.status);
    expect(answer?.body).not.toContain('Subject: secret');
  });
});

describe('the key of the e-mails', () => {
  const pages = ['/mail', '/mail/01.order-received', '/mail/01.order-received/html', '/mail/unknown'];
  const statusesWith = (suffix: string, headers: Record<string, string> = {}): Promise<number[]> =>
    Promise.all(pages.map(async (path) => (await fetch(`${gateway.url}${path}${suffix}`, { headers })).status));

  it.each(['', '?key=', `?key=${key}x`, `?key=${key.slice(1)}`, `?other=${key}`])(
    'the key of the e-mails is needed for every page, and %j is rejected',
    async (query) => {
      expect(await statusesWith(query)).toEqual([403, 403, 403, 403]);
    },
  );

  it('the address contains the key of the e-mails once, and afterwards a cookie does that scripts and other sites cannot use', async () => {
    const opened = await fetch(`${gateway.url}/mail?key=${key}`);
    const [cookie = '', ...attributes] = (opened.headers.get('set-cookie') ?? '').split('; ');
    expect([opened.status, attributes.sort()]).toEqual([200, ['HttpOnly', 'Path=/mail', 'SameSite=Strict']]);
    expect(await statusesWith('', { Cookie: `theme=dark; ${cookie}` })).toEqual([200, 200, 200, 404]);
    expect(await statusesWith('', { Cookie: `${cookie}x` })).toEqual([403, 403, 403, 403]);
  });

  it('the key of the e-mails is in no page, no log line and no Referer', async () => {
    const { headers } = await fetch(`${gateway.url}/mail?key=${key}`);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    for (const path of pages) expect((await read(path)).text).not.toContain(key);
    expect(gateway.output()).not.toContain(key);
  });

  it('the key of the e-mails is explained to a browser that lacks it, and to a program in a problem document', async () => {
    const page = await fetch(`${gateway.url}/mail`, { headers: { Accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([403, expect.stringContaining('<code>npm start</code>')]);
    const problem = await fetch(`${gateway.url}/mail`);
    expect(await problem.json()).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('npm start') });
  });
});

describe('the pages that use tokens', () => {
  it.each([
    ['/mail/verify-email', '/v1/email-verifications'],
    ['/mail/undo-email-change', '/v1/email-verifications/undo'],
    ['/mail/reset-password', '/v1/password-resets/confirm'],
  ])('the page %s sends the token to %s', async (page, path) => {
    const answer = await fetch(`${gateway.url}${page}`);
    const [status, text] = [answer.status, await answer.text()];
    const policy = answer.headers.get('content-security-policy');
    expect([status, text.includes(`data-path="${path}"`)]).toEqual([200, true]);
    expect(policy).not.toMatch(/unsafe|\*/);
  });
});

describe('a client that is not on this machine', () => {
  it.each([
    ['127.0.0.1', { host: 'localhost:8080' }, true],
    ['127.9.9.9', { host: '127.0.0.1' }, true],
    ['::1', { host: '[::1]:8080' }, true],
    ['::ffff:127.0.0.1', { host: 'LOCALHOST' }, true],
    ['192.0.2.1', { host: 'localhost' }, false],
    ['::ffff:192.0.2.1', { host: 'localhost' }, false],
    ['2001:db8::1', { host: 'localhost' }, false],
    [undefined, { host: 'localhost' }, false],
    ['127.0.0.1', { host: 'rebound.example' }, false],
    ['127.0.0.1', { host: 'localhost.example' }, false],
    ['127.0.0.1', {}, false],
    ['127.0.0.1', { host: 'localhost', 'x-forwarded-for': '127.0.0.1' }, false],
    ['127.0.0.1', { host: 'localhost', forwarded: 'for=192.0.2.1' }, false],
    ['127.0.0.1', { host: 'localhost', via: '1.1 proxy' }, false],
  ])('a client that is not on this machine is recognised by %s and %j', (remoteAddress, headers, expected) => {
    expect(isFromThisMachine({ socket: { remoteAddress }, headers })).toBe(expected);
  });

  it.each(['Host: rebound.example', 'Host: localhost\r\nX-Forwarded-For: 192.0.2.1'])(
    'a client that is not on this machine gets 404 with %s',
    async (fields) => {
      for (const path of ['/mail', '/mail/01.order-received', '/mail/01.order-received/html', '/mail/verify-email']) {
        const request = `GET ${path}?key=${key} HTTP/1.1\r\n${fields}\r\nConnection: close\r\n\r\n`;
        expect((await sendRaw(gateway.port, request)).answers[0]?.status).toBe(404);
      }
    },
  );
});

describe('a gateway that was started alone', () => {
  it('a gateway that was started alone does not serve these pages', async () => {
    const alone = await startGateway({ GATEWAY_CONFIG_DIR: config, MAIL_DIR: folder, MAIL_PAGE_DIR: folder });
    try {
      for (const path of ['/mail', '/mail/01.order-received', '/mail/01.order-received/html', '/mail/verify-email'])
        expect([path, (await fetch(`${alone.url}${path}?key=`)).status]).toEqual([path, 404]);
      const start = await fetch(alone.url, { headers: { Accept: 'text/html' } });
      expect(await start.text()).not.toContain('"/mail"');
    } finally {
      await alone.stop();
    }
  });
});
