// Checks which of the packages that only express-gateway needs are installed, and which of them the running gateway
// loads.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { type LoadedPackages, runConnectedGateway, runGateway } from './exercise-gateway.ts';
import { lock, neededOnlyBy, placeholder } from './lock.ts';

interface Unused {
  readonly replaced: Readonly<Record<string, { readonly use: string; readonly with?: readonly string[] }>>;
  readonly kept: Readonly<Record<string, string>>;
}

const read = (name: string): unknown => parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
const unused = read('engine-packages.yaml') as Unused;
const listed = read('engine-loaded.yaml') as readonly string[];
const place = (name: string): string => `node_modules/${name}`;
const ofEngine = neededOnlyBy(place('express-gateway'));

describe('the packages that only express-gateway needs', () => {
  it('are loaded by the gateway, or replaced by an empty package, or kept for a stated reason', () => {
    const explained = [...listed, ...[...Object.keys(unused.replaced), ...Object.keys(unused.kept)].map(place)];
    expect(ofEngine.filter((key) => !explained.includes(key))).toEqual([]);
    expect(explained.filter((key) => !ofEngine.includes(key))).toEqual([]);
  });

  it('are empty where the list says that they are replaced, and nowhere else', () => {
    const empty = ofEngine.filter((key) => lock[key]?.name === placeholder);
    expect(empty).toEqual(Object.keys(unused.replaced).map(place).sort());
  });

  it('do not include packages that only a replaced package needs', () => {
    const removed = Object.values(unused.replaced).flatMap((entry) => entry.with ?? []);
    expect(removed.filter((name) => lock[place(name)] !== undefined && lock[place(name)]?.dev !== true)).toEqual([]);
  });
});

describe('the running gateway', () => {
  let alone: LoadedPackages;
  let connected: LoadedPackages;
  beforeAll(async () => {
    alone = await runGateway();
    connected = await runConnectedGateway();
  });
  const filter = (places: readonly string[]): readonly string[] => places.filter((key) => ofEngine.includes(key));

  it('loads each listed package of the engine and no other, in every mode', () => {
    const loaded = new Set(filter([...alone.afterRequests, ...connected.afterRequests]));
    expect([...loaded].sort()).toEqual([...listed].sort());
  });

  it('loads all of them at its start, because no policy, refusal or reload needs another one', () => {
    expect(filter(alone.afterRequests)).toEqual(filter(alone.atStart));
    expect(filter(connected.afterRequests)).toEqual(filter(connected.atStart));
  });
});
