// Spectral and Redocly lint the published documents. accepted-findings.yaml lists their accepted findings.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readYaml } from '@shop/shared/contract';
import { plainEnvironment } from '@shop/shared/testing';
import { toolsOf } from '../../install-tools.ts';
import { type PublishedFile, writeDocuments } from './documents.ts';

type Linter = 'spectral' | 'redocly';

interface Finding {
  readonly file: PublishedFile;
  readonly tool: Linter;
  readonly rule: string;
  /** The JSON pointer of the finding. */
  readonly at: string;
  readonly message: string;
}

interface Accepted {
  readonly document: PublishedFile['kind'];
  readonly tool: Linter;
  readonly rule: string;
  readonly at?: string;
  readonly reason: string;
}

const tools = toolsOf(new URL('.', import.meta.url));
const ruleset = fileURLToPath(new URL('spectral.yaml', import.meta.url));
const acceptedFile = new URL('accepted-findings.yaml', import.meta.url);
const accepted = readYaml(fileURLToPath(acceptedFile)) as readonly Accepted[];
const folder = mkdtempSync(join(tmpdir(), 'shop-documents-'));

let files: readonly PublishedFile[];
let findings: readonly Finding[];

beforeAll(async () => {
  await tools.install();
  files = await writeDocuments(folder);
  findings = [...spectral(), ...files.flatMap(redocly)];
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a linter. It writes JSON, and may exit with a failure when it has findings. */
function lint(program: string, ...parameters: readonly string[]): unknown {
  const env = { ...plainEnvironment(), REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const options = { cwd: folder, env, encoding: 'utf8', maxBuffer: 1 << 26 } as const;
  const { stdout, stderr } = spawnSync(process.execPath, [tools.path(program), 'lint', ...parameters], options);
  try {
    return JSON.parse(stdout);
  } catch (error) {
    throw new Error(`${program} wrote no JSON: ${stdout}${stderr}`, { cause: error });
  }
}

function fileOf(path: string): PublishedFile {
  const found = files.find(({ name }) => name === basename(path));
  if (found === undefined) throw new Error(`a finding in ${path}, which is not published`);
  return found;
}

function spectral(): Finding[] {
  const parameters = ['--quiet', '--format=json', '--ruleset', ruleset, ...files.map(({ name }) => name)];
  const results = lint('@stoplight/spectral-cli/dist/index.js', ...parameters);
  return (results as { code: string; path: (string | number)[]; message: string; source: string }[]).map(
    ({ code, path, message, source }) => {
      const at = path.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
      return { file: fileOf(source), tool: 'spectral', rule: code, at, message };
    },
  );
}

function redocly(file: PublishedFile): Finding[] {
  const parameters = ['--extends=recommended', '--format=json', '--max-problems=10000', file.name];
  const { problems } = lint('@redocly/cli/bin/cli.js', ...parameters) as {
    problems: { ruleId: string; message: string; location: [{ pointer: string }] }[];
  };
  return problems.map(({ ruleId, message, location: [{ pointer }] }) => {
    return { file, tool: 'redocly', rule: ruleId, at: pointer.replace(/^#/, ''), message };
  });
}

const covers = (entry: Accepted, { file, tool, rule, at }: Finding): boolean =>
  entry.document === file.kind && entry.tool === tool && entry.rule === rule && new RegExp(entry.at ?? '').test(at);

it('the OpenAPI document and the AsyncAPI document of every service are linted', () => {
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['openapi.json', 'orders.json']));
  expect(new Set(findings.map(({ file, tool }) => `${file.kind} ${tool}`)).size).toBe(4);
});

it('no document has a finding that is not accepted', () => {
  const faults = findings.filter((finding) => !accepted.some((entry) => covers(entry, finding)));
  expect(faults.map(({ file, tool, rule, at, message }) => `${file.name}: ${tool} ${rule} ${at}: ${message}`)).toEqual(
    [],
  );
});

it('every accepted finding exists', () => {
  expect(accepted.filter((entry) => !findings.some((finding) => covers(entry, finding)))).toEqual([]);
});
