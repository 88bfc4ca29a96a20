// The metrics of processes, and the names in an expression of Prometheus.

export interface Exposed {
  /** Names of samples: a histogram has three. */
  readonly names: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

/** Reads the metrics of several processes together. */
export async function scrape(addresses: readonly string[]): Promise<Exposed> {
  const names = new Set<string>();
  const labels = new Set<string>();
  for (const address of addresses) {
    const text = await (await fetch(address)).text();
    for (const line of text.split('\n')) {
      const [, name, inside = ''] = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      if (name === undefined) continue;
      names.add(name);
      for (const [, label = ''] of inside.matchAll(/(\w+)="/g)) labels.add(label);
    }
  }
  return { names, labels };
}

export interface Used {
  readonly metrics: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

const words = new Set(['and', 'or', 'unless', 'bool', 'offset']);

/** The metrics and labels in an expression. Supports the part of the language that these rules and panels use. */
export function namesIn(expression: string): Used {
  const labels = new Set<string>();
  const withoutLabels = expression
    .replace(/\{([^}]*)\}/g, (_all, matchers: string) => {
      for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) labels.add(label);
      return '';
    })
    .replace(/\b(?:by|without)\s*\(([^)]*)\)/g, (_all, list: string) => {
      for (const label of list.split(',')) labels.add(label.trim());
      return '';
    })
    .replace(/\[[^\]]*\]/g, '');
  const metrics = new Set<string>();
  for (const [, name = ''] of withoutLabels.matchAll(/(?<![\w.])([a-z_]\w*)(?!\w|\s*\()/g)) {
    if (!words.has(name)) metrics.add(name);
  }
  return { metrics, labels };
}
