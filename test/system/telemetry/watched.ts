// All monitored expressions, which are those of alert rules and of dashboard panels, and all documented metrics.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const observability = fileURLToPath(new URL('../../../deploy/observability', import.meta.url));

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

export function alertRules(): Rule[] {
  const folder = `${observability}/rules`;
  return readdirSync(folder).flatMap((file) => {
    const { groups } = parse(readFileSync(`${folder}/${file}`, 'utf8')) as { groups: { rules: Rule[] }[] };
    return groups.flatMap(({ rules }) => rules);
  });
}

export interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

export function dashboards(): { readonly title: string; readonly uid: string; readonly panels: readonly Panel[] }[] {
  const folder = `${observability}/grafana/dashboards`;
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')));
}

export interface DocumentedMetric {
  readonly kind: string;
  readonly unit: string;
  /** The attributes of every value. */
  readonly attributes?: readonly string[];
  /** The attributes of some values. */
  readonly sometimes?: readonly string[];
  readonly boundaries?: readonly number[];
}

const metricsFile = new URL('../../../shared/contracts/metrics.yaml', import.meta.url);

/** Name → metric. */
export const documentedMetrics: ReadonlyMap<string, DocumentedMetric> = new Map(
  Object.entries(parse(readFileSync(metricsFile, 'utf8')) as Record<string, DocumentedMetric>),
);
