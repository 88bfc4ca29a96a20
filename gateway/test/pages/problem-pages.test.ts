// The pages that explain every problem code.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { problems } from '@shop/shared/protocol';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

describe('/problems', () => {
  it('lists the whole table', async () => {
    const { body } = await gateway.client.get('/problems');
    expect(body.problems.map(({ code }) => code)).toEqual(Object.keys(problems));
  });
  it.each(Object.keys(problems))('explains %s as JSON and as a page that loads nothing', async (code) => {
    const { body } = await gateway.client.get(`/problems/${code}`);
    expect(body).toMatchObject({ code, when: expect.any(String), remedy: expect.any(String), example: { code } });
    const page = await gateway.client.get(`/problems/${code}`, { headers: { Accept: 'text/html,*/*;q=0.8' } });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain(`<code>${code}</code>`);
    expect(page.text).not.toMatch(/<script|<link|<img|src=|https?:/);
  });
  it('404 for a code that does not exist', async () => {
    expect(await gateway.client.get('/problems/no-such-thing')).toMatchObject({ status: 404 });
  });
  it('says with OPTIONS what can be done', async () => {
    const { status, headers } = await gateway.client.call('OPTIONS', '/problems');
    expect([status, headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS']);
    expect(headers).toMatchObject({ 'x-request-id': expect.any(String), 'x-content-type-options': 'nosniff' });
  });
  it('405 for anything but reading', async () => {
    expect(await gateway.client.post('/problems')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
  });
});
