// The alert rules in Prometheus: they are valid, and each has a test case that makes it fire and a runbook.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { alertRules, observability } from '../telemetry/watched.ts';
import { findPromtool, type Promtool } from './promtool.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const cases = fileURLToPath(new URL('cases.yaml', import.meta.url));
const rules = `${observability}/rules/shop.yaml`;

let promtool: Promtool;
beforeAll(async () => {
  promtool = await findPromtool();
});

describe('promtool', () => {
  it('promtool finds no fault in the configuration and the rules that it names', async () => {
    const said = await promtool('check', 'config', `${observability}/prometheus.yaml`);
    expect(said).toContain(`${alertRules().length} rules found`);
  });

  it('promtool confirms every test case', async () => {
    expect(await promtool('test', 'rules', cases)).toContain('SUCCESS');
  });

  it('promtool detects a rule that does not fire', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shop-rules-'));
    const broken = readFileSync(rules, 'utf8').replace('shop_outbox_lag) > 30', 'shop_outbox_lag) > 3000');
    await writeFile(join(folder, 'shop.yaml'), broken);
    await writeFile(
      join(folder, 'cases.yaml'),
      readFileSync(cases, 'utf8').replace(/rule_files: .*/, 'rule_files: [shop.yaml]'),
    );
    await expect(promtool('test', 'rules', join(folder, 'cases.yaml'))).rejects.toThrow('OutboxLag');
    await rm(folder, { recursive: true });
  });
});

describe.each(alertRules())('$alert', ({ alert, annotations, labels }) => {
  it('each alert has a test case', () => {
    const { tests } = parse(readFileSync(cases, 'utf8')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
    };
    const firing = tests.flatMap((test) => test.alert_rule_test).filter(({ exp_alerts = [] }) => exp_alerts.length > 0);
    expect(firing.map(({ alertname }) => alertname)).toContain(alert);
  });

  it('each alert refers to a runbook', () => {
    const page = readFileSync(join(root, annotations.runbook), 'utf8');
    expect(page).toContain(`Alert \`${alert}\`, severity \`${labels.severity}\`.`);
    for (const heading of ['## What to do', '## Meanwhile']) expect(page).toContain(heading);
    for (const [, other = ''] of page.matchAll(/\]\(([a-z-]+\.md)\)/g)) {
      expect(() => readFileSync(join(root, 'docs/runbooks', other))).not.toThrow();
    }
  });
});
