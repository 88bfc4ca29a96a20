// Of the packages that only express-gateway needs: which are replaced, and which the running gateway never loads.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { list } from './advisories.ts';
import { findUnloaded, type LoadedPackages, ofEngine, runConnectedGateway, runGateway } from './exercise-gateway.ts';
import { lock, placeholder } from './lock.ts';

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const replaced = parse(read('engine-replaced.yaml')) as Readonly<Record<string, { advisory: string }>>;

it('an empty package stands only in the place of a package that has an advisory or installs one that has', () => {
  const empty = Object.keys(lock).filter((place) => lock[place]?.name === placeholder);
  expect(empty).toEqual(Object.keys(replaced).map((name) => `node_modules/${name}`));
  const known = new Set(list.advisories.map(({ advisory }) => advisory));
  expect(Object.values(replaced).filter(({ advisory }) => !known.has(advisory))).toEqual([]);
});

describe('the running gateway', () => {
  it('the running gateway loads every package of the engine that its image has, and none that its image lacks', async () => {
    const alone = await runGateway();
    const connected = await runConnectedGateway();
    expect(findUnloaded([alone, connected])).toEqual(read('engine-unloaded.txt').trim().split('\n'));
    // At the start: no policy, refusal or reload needs another one.
    const filter = (places: readonly string[]): readonly string[] => places.filter((place) => ofEngine.includes(place));
    const loadedAtStart = ({ atStart, afterRequests }: LoadedPackages): void =>
      expect(filter(afterRequests)).toEqual(filter(atStart));
    loadedAtStart(alone);
    loadedAtStart(connected);
  });
});
