// Validates a manifest by the schema of its kind, and finds members that the schema does not define.
import type { Manifest } from '../manifest.ts';

type Errors = readonly { readonly instancePath: string; readonly message?: string; readonly keyword: string }[];
type Model = new (data: unknown) => { validate(): void };

/**
 * The package with the models of each group. RabbitMQ's operator has no maintained models on npm, so the tests compare
 * its manifest with their own expectations.
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

/** The kinds without a schema, which only the tests check. */
export const withoutSchema: ReadonlySet<string> = new Set(['rabbitmq.com/v1beta1/RabbitmqCluster']);

/** The faults of a manifest, one on each line. */
export async function faultsOf(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind } = manifest;
  const path = packages[apiVersion];
  if (path === undefined) return [`no schema for ${apiVersion}`];
  const model = ((await import(path)) as Record<string, Model | undefined>)[kind];
  if (model === undefined) return [`no schema for ${apiVersion} ${kind}`];
  const watched = watch(manifest);
  // The models copy references, so the observed members stay observed in the copies.
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
 * Finds members that the schema does not define. The schemas permit such members, as the API server did for a long
 * time, so a misspelt member would have no effect without an error. The compiled validators read exactly the defined
 * members. A member that was never read is therefore undefined.
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
        // When no member of an object was read, all its members are permitted.
        read.size === 0 ? [] : keys.filter((key) => !read.has(key)).map((key) => `${path}/${key}`),
      ),
  };
}
