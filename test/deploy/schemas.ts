// Holds a manifest against the schema of its kind, and finds the members that the schema does not know.
import type { Manifest } from './manifest.ts';

type Errors = readonly { readonly instancePath: string; readonly message?: string; readonly keyword: string }[];
type Model = new (data: unknown) => { validate(): void };

/**
 * Where the models of each group are. RabbitMQ's operator has none on npm that is kept up to date: its one manifest is held against
 * what the tests say themselves.
 */
const packages: Readonly<Record<string, string>> = {
  v1: 'kubernetes-models/v1',
  'apps/v1': 'kubernetes-models/apps/v1',
  'batch/v1': 'kubernetes-models/batch/v1',
  'policy/v1': 'kubernetes-models/policy/v1',
  'autoscaling/v2': 'kubernetes-models/autoscaling/v2',
  'networking.k8s.io/v1': 'kubernetes-models/networking.k8s.io/v1',
  'postgresql.cnpg.io/v1': '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1',
};

/** The kinds that nobody but the tests themselves can check. */
export const withoutSchema: ReadonlySet<string> = new Set(['rabbitmq.com/v1beta1/RabbitmqCluster']);

/** What is wrong with a manifest: one line for each fault. */
export async function faultsOf(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind } = manifest;
  const path = packages[apiVersion];
  if (path === undefined) return [`no schema for ${apiVersion}`];
  const model = ((await import(path)) as Record<string, Model | undefined>)[kind];
  if (model === undefined) return [`no schema for ${apiVersion} ${kind}`];
  const watched = watch(manifest);
  // The models are plain objects made of what they are given: the watched members stay watched in them.
  const instance = new model({});
  Object.assign(instance, watched.value);
  try {
    instance.validate();
  } catch (error) {
    const { errors, message } = error as Error & { errors?: Errors };
    return errors?.map((fault) => `${fault.instancePath} ${fault.keyword} ${fault.message ?? ''}`) ?? [message];
  }
  return watched.untouched().map((place) => `${place} is no member of ${kind}`);
}

/**
 * The schemas permit members that they do not know, as the API server did for long, and a misspelt one is silently without effect.
 * The compiled validators read exactly the members that they know: what was never read is unknown.
 */
function watch(root: Manifest): { value: object; untouched(): string[] } {
  const places = new Map<object, { path: string; read: Set<string>; keys: string[] }>();
  const wrap = (value: unknown, path: string): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const read = new Set<string>();
    const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
    for (const [key, member] of Object.entries(value)) Object.assign(copy, { [key]: wrap(member, `${path}/${key}`) });
    places.set(copy, { path, read, keys: Array.isArray(value) ? [] : Object.keys(value) });
    return new Proxy(copy, {
      get(object, key) {
        if (typeof key === 'string') read.add(key);
        return Reflect.get(object, key) as unknown;
      },
    });
  };
  const members = Object.fromEntries(Object.entries(root).map(([key, member]) => [key, wrap(member, `/${key}`)]));
  return {
    value: members,
    untouched: () =>
      [...places.values()].flatMap(({ path, read, keys }) =>
        // An object of which nothing was read is one whose members are free.
        read.size === 0 ? [] : keys.filter((key) => !read.has(key)).map((key) => `${path}/${key}`),
      ),
  };
}
