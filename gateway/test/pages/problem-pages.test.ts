// The pages that explain the problem codes.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readDocument, toNode } from '@shop/shared/contract';
import { problems } from '@shop/shared/problem';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const common = fileURLToPath(new URL('../../../shared/contracts/common.yaml', import.meta.url));

/** The members of problem documents and of their faults. `split` is only sent when `nearest` would be long. */
const schemas = toNode(toNode(readDocument(common).components).schemas);
const memberNames = new Set(
  ['Problem', 'Fault'].flatMap((name) => Object.keys(toNode(toNode(schemas[name]).properties))),
);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

describe('/problems', () => {
  it('/problems lists every problem code', async () => {
    const { body } = await gateway.client.get('/problems');
    expect(body.problems.map(({ code }) => code)).toEqual(Object.keys(problems));
  });
  it.each(Object.keys(problems))(
    'the page of problems explains %s as JSON and as a page with the frame of the documentation',
    async (code) => {
      const { body } = await gateway.client.get(`/problems/${code}`);
      expect(body).toMatchObject({ code, when: expect.any(String), remedy: expect.any(String), example: { code } });
      const page = await gateway.client.get(`/problems/${code}`, { headers: { Accept: 'text/html,*/*;q=0.8' } });
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(page.text).toContain(`<code>${code}</code>`);
      expect(page.text).toContain('<header class="top">');
      expect(page.text).not.toMatch(/(?:src|href)="(?!\/|#)/);
    },
  );
  it.each(Object.keys(problems))(
    '/problems shows for %s an example with the members that its texts explain',
    async (code) => {
      const { body } = await gateway.client.get(`/problems/${code}`);
      const explained = `${body.when} ${body.remedy}`;
      const example = toNode(body.example);
      const shown = JSON.stringify(example);
      const named = [...explained.matchAll(/`(\w+)`/g)]
        .map(([, name = '']) => name)
        .filter((name) => memberNames.has(name) && name !== 'split');
      expect(named.filter((name) => !shown.includes(`"${name}":`))).toEqual([]);
      if (/[Tt]he response (?:lists|names|has)/.test(explained)) expect(example).toHaveProperty('errors.0.detail');
      for (const fault of (Array.isArray(example.errors) ? example.errors : []).map(toNode))
        expect([fault.pointer, fault.parameter, fault.header].filter(Boolean)).toHaveLength(1);
    },
  );
  it('/problems returns 404 for an unknown code', async () => {
    expect(await gateway.client.get('/problems/no-such-thing')).toMatchObject({ status: 404 });
  });
  it('/problems lists the allowed methods with OPTIONS', async () => {
    const { status, headers } = await gateway.client.call('OPTIONS', '/problems');
    expect([status, headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS']);
    expect(headers).toMatchObject({ 'x-request-id': expect.any(String), 'x-content-type-options': 'nosniff' });
  });
  it('/problems returns 405 to methods that do not read', async () => {
    expect(await gateway.client.post('/problems')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
  });
});
