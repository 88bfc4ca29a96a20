// Renders a folder of deploy/kubernetes as `kubectl kustomize` does, for the features of Kustomize that the folder
// uses, so that the tests need only npm.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { containersOf, type Manifest } from './manifest.ts';

interface Target {
  readonly kind?: string;
  readonly name?: string;
}

interface Kustomization {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resources: readonly string[];
  readonly namespace?: string;
  readonly labels?: readonly { readonly pairs: Readonly<Record<string, string>> }[];
  readonly patches?: readonly { readonly path: string; readonly target?: Target }[];
  readonly images?: readonly { readonly name: string; readonly newName?: string; readonly newTag?: string }[];
}

const members = ['apiVersion', 'kind', 'resources', 'namespace', 'labels', 'patches', 'images'];

/**
 * @throws Error for a member of a kustomization that is not supported here, and for a patch that matches no manifest
 */
export function render(folder: string): Manifest[] {
  const { resources, patches = [], ...rest } = readKustomization(folder);
  const manifests = resources.flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? render(path) : readDocuments(path);
  });
  const patched = patches.reduce(
    (all, { path, target }) => patchAll(all, readPatch(join(folder, path)), target),
    manifests,
  );
  return patched.map((manifest) => transform(manifest, rest));
}

function readKustomization(folder: string): Kustomization {
  const kustomization = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization;
  const unknown = Object.keys(kustomization).filter((name) => !members.includes(name));
  if (unknown.length > 0) throw new Error(`${folder} uses ${unknown.join(', ')}, which the tests cannot render`);
  return kustomization;
}

function readDocuments(path: string): Manifest[] {
  return parseAllDocuments(readFileSync(path, 'utf8'), { merge: true, uniqueKeys: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0]?.message}`);
    return document.toJS() as Manifest;
  });
}

type Operation = { readonly op: string; readonly path: string; readonly value: unknown };

function readPatch(path: string): Manifest | readonly Operation[] {
  return parse(readFileSync(path, 'utf8')) as Manifest | readonly Operation[];
}

function patchAll(manifests: Manifest[], patch: Manifest | readonly Operation[], target?: Target): Manifest[] {
  const wanted: Target = target ?? { kind: (patch as Manifest).kind, name: (patch as Manifest).metadata.name };
  const meets = ({ kind, metadata }: Manifest): boolean =>
    (wanted.kind === undefined || wanted.kind === kind) && (wanted.name === undefined || wanted.name === metadata.name);
  if (!manifests.some(meets)) throw new Error(`a patch for ${JSON.stringify(wanted)} meets nothing`);
  return manifests.map((manifest) => {
    if (!meets(manifest)) return manifest;
    if (isOperations(patch)) return patch.reduce(applyOperation, structuredClone(manifest));
    const { metadata, ...rest } = patch;
    return merge(manifest, rest, '') as Manifest;
  });
}

function isOperations(patch: Manifest | readonly Operation[]): patch is readonly Operation[] {
  return Array.isArray(patch);
}

/** Applies the one operation of RFC 6902 that is used: appending to a list. */
function applyOperation(manifest: Manifest, { op, path, value }: Operation): Manifest {
  if (op !== 'add' || !path.endsWith('/-')) throw new Error(`the tests cannot apply ${op} ${path}`);
  const list = path
    .split('/')
    .slice(1, -1)
    .reduce<unknown>((at, name) => (at as Manifest)[name], manifest);
  if (!Array.isArray(list)) throw new Error(`there is no list at ${path}`);
  list.push(value);
  return manifest;
}

/** List → the member that identifies its elements. Other lists are replaced as a whole. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
  ports: 'containerPort',
};

/** A strategic merge: objects member by member, lists by their key. */
function merge(base: unknown, patch: unknown, name: string): unknown {
  if (isObject(base) && isObject(patch)) {
    if ('$patch' in patch) throw new Error('the tests cannot apply $patch');
    const keys = [...new Set([...Object.keys(base), ...Object.keys(patch)])];
    return Object.fromEntries(keys.map((key) => [key, key in patch ? merge(base[key], patch[key], key) : base[key]]));
  }
  const key = mergeKeys[name];
  if (Array.isArray(base) && Array.isArray(patch) && key !== undefined) {
    const added = patch.filter((element) => !base.some((existing) => existing[key] === element[key]));
    const kept = base.map((existing) => {
      const match = patch.find((element) => element[key] === existing[key]);
      return match === undefined ? existing : merge(existing, match, '');
    });
    return [...added, ...kept];
  }
  return patch;
}

function isObject(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function transform(
  manifest: Manifest,
  { namespace, labels = [], images = [] }: Omit<Kustomization, 'resources'>,
): Manifest {
  const copy = structuredClone(manifest);
  if (namespace !== undefined && copy.kind !== 'Namespace') copy.metadata.namespace = namespace;
  for (const { pairs } of labels) copy.metadata.labels = { ...copy.metadata.labels, ...pairs };
  for (const container of containersOf(copy)) {
    const image = images.find(({ name }) => name === nameOf(container.image));
    if (image === undefined) continue;
    const { newName = image.name, newTag } = image;
    container.image = newTag === undefined ? newName : `${newName}:${newTag}`;
  }
  return copy;
}

function nameOf(image: string): string {
  return image.replace(/:[^/]*$/, '');
}
