// The Postman collection and the HTTP file, sent to a real shop as their tools would send them.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type RunningShop, startShop } from '../../test/running-shop.ts';
import { endpoints } from '../src/contract.ts';

let shop: RunningShop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop?.stop());

interface Sent {
  readonly name: string;
  readonly status: number;
  readonly code: unknown;
}

const fileOf = (name: string): string => readFileSync(new URL(`../requests/${name}`, import.meta.url), 'utf8');

const filled = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\{\{([^{}]+)\}\}/g, (_, name: string) =>
    name === '$guid' ? randomUUID() : (values.get(name) ?? ''),
  );

async function send(name: string, url: string, init: RequestInit): Promise<Sent & { readonly content: unknown }> {
  const response = await fetch(url, init);
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  // A stream does not end by itself.
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  const content: unknown = text === '' ? undefined : JSON.parse(text);
  const { code } = (content ?? {}) as { readonly code?: unknown };
  return { name, status: response.status, code: response.ok ? undefined : code, content };
}

/** A refusal is for what the caller may not do or has done already, and never for the form of the request. */
function expectWellFormed(sent: readonly Sent[]): void {
  expect(sent).toHaveLength(Object.keys(endpoints).length);
  expect(sent.slice(0, 4).map(({ status }) => status)).toEqual([201, 200, 200, 201]);
  const malformed = ['invalid-request', 'method-not-allowed', 'unsupported-media-type', 'not-acceptable'];
  expect(sent.filter(({ status, code }) => status >= 500 || malformed.includes(String(code)))).toEqual([]);
  expect(sent.filter(({ status }) => status < 300).length).toBeGreaterThan(15);
}

interface PostmanItem {
  readonly name: string;
  readonly event?: readonly { readonly script: { readonly exec: readonly string[] } }[];
  readonly request: {
    readonly method: string;
    readonly header: readonly { readonly key: string; readonly value: string }[];
    readonly url: { readonly raw: string };
    readonly body?: { readonly raw: string };
  };
}

it('the requests of the Postman collection have the form of the contract, and take their variables from responses', async () => {
  const { item: folders, variable } = JSON.parse(fileOf('shop.postman_collection.json')) as {
    item: { item: PostmanItem[] }[];
    variable: { key: string; value: string }[];
  };
  const values = new Map(variable.map(({ key, value }) => [key, value]));
  values.set('baseUrl', shop.url).set('email', `${randomUUID()}@example.com`);
  const sent: Sent[] = [];
  for (const { name, event, request } of folders.flatMap(({ item }) => item)) {
    const headers = request.header.map(({ key, value }): [string, string] => [key, filled(value, values)]);
    const body = request.body && { body: filled(request.body.raw, values) };
    const { content, ...result } = await send(name, filled(request.url.raw, values), {
      method: request.method,
      headers,
      ...body,
    });
    sent.push(result);
    const response = { code: result.status, json: () => content };
    const collectionVariables = { set: (key: string, value: string) => values.set(key, value) };
    for (const { script } of event ?? [])
      runInNewContext(script.exec.join('\n'), { pm: { response, collectionVariables } });
  }
  expectWellFormed(sent);
  for (const name of ['orderId', 'productId', 'customerId']) expect(values.get(name)).toMatch(/^[0-9a-f-]{36}$/);
});

it('the requests of the HTTP file have the form of the contract, and take their variables from responses', async () => {
  const [head = '', ...blocks] = fileOf('shop.http').split(/^### .*\n/m);
  const definitions = [...head.matchAll(/^@(\w+) = (.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  const values = new Map(definitions.filter(([, value]) => !value.startsWith('{{')));
  values.set('baseUrl', shop.url).set('email', `${randomUUID()}@example.com`);
  const sent: Sent[] = [];
  for (const block of blocks) {
    const [top = '', ...rest] = block.trimEnd().split('\n\n');
    const [comment = '', line = '', ...fields] = top.split('\n');
    const [method = '', target = ''] = line.split(' ');
    const headers = fields.map((field) => filled(field, values).split(': ') as [string, string]);
    const body = rest.length > 0 && { body: `${filled(rest.join('\n\n'), values)}\n` };
    const name = comment.replace('# @name ', '');
    const { content, ...result } = await send(name, filled(target, values), { method, headers, ...body });
    sent.push(result);
    for (const [variable, value] of definitions) {
      const [, from, path = ''] = /^\{\{(\w+)\.response\.body\.\$(.*)\}\}$/.exec(value) ?? [];
      if (from !== name || result.status >= 300) continue;
      const steps = path.split(/[.[\]]/).filter((step) => step !== '');
      const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], content);
      if (typeof found === 'string') values.set(variable, found);
    }
  }
  expectWellFormed(sent);
});
