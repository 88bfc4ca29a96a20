// The report of a soak, as Markdown.
import type { FaultFigures, SoakState } from './state.ts';
import type { Sample } from './usage.ts';

/** Parts of the time for which the report has a figure of each process. */
const parts = 4;

const number = (value: number): string => value.toLocaleString('en-US');
const seconds = (milliseconds: number): string => (milliseconds / 1_000).toFixed(1);
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** @param share 0.5 for the median, 0.99 for the 99th percentile */
function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

const median = (values: readonly number[]): number => quantile(values, 0.5);

export const repliesOf = ({ replies }: SoakState): number => sum(Object.values(replies));

export function reportText(state: SoakState, samples: readonly Sample[]): string {
  const { seed, clusters, starts, rounds, milliseconds, replies, faults, violations } = state;
  const statuses = Object.entries(replies).map(([status, count]) => `${status}: ${number(count)}`);
  return [
    `# Soak with seed ${seed}${clusters ? ' over clusters' : ''}`,
    '',
    `${number(rounds)} rounds in ${(milliseconds / 3_600_000).toFixed(2)} hours and ${starts} starts; ` +
      `${number(repliesOf(state))} requests (${statuses.join(', ')}); ${violations.length} violations.`,
    '',
    '| Fault | Rounds | Not seen | Recovery in s: median | 99% | most |',
    '|---|---|---|---|---|---|',
    ...Object.entries(faults)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, figures]) => faultRow(name, figures)),
    faultRow('all', allOf(Object.values(faults))),
    '',
    `Memory in MB and file handles: the medians of ${parts} equal parts of the time, and the most.`,
    '',
    `| Process | Started | Memory | Most | Handles | Most |`,
    '|---|---|---|---|---|---|',
    ...usageRows(samples),
    ...(violations.length === 0
      ? []
      : ['', 'Violations:', '', ...violations.map(({ round, fault, text }) => `- round ${round}, ${fault}: ${text}`)]),
    '',
  ].join('\n');
}

function faultRow(name: string, { rounds, withoutEffect, recoveries }: FaultFigures): string {
  const times = [median(recoveries), quantile(recoveries, 0.99), Math.max(0, ...recoveries)].map(seconds);
  return `| ${name} | ${rounds} | ${withoutEffect} | ${times.join(' | ')} |`;
}

function allOf(figures: readonly FaultFigures[]): FaultFigures {
  return {
    rounds: sum(figures.map(({ rounds }) => rounds)),
    withoutEffect: sum(figures.map(({ withoutEffect }) => withoutEffect)),
    recoveries: figures.flatMap(({ recoveries }) => recoveries),
  };
}

function usageRows(samples: readonly Sample[]): string[] {
  const last = samples.at(-1)?.minute ?? 0;
  const partOf = ({ minute }: Sample): number => Math.min(Math.floor((minute / (last || 1)) * parts), parts - 1);
  return [...Map.groupBy(samples, ({ process: name }) => name)].map(([name, own]) => {
    const medians = (value: (sample: Sample) => number): string =>
      Array.from({ length: parts }, (_, part) => own.filter((sample) => partOf(sample) === part))
        .map((some) => (some.length === 0 ? '–' : median(some.map(value))))
        .join(', ');
    const most = (value: (sample: Sample) => number): number => Math.max(...own.map(value));
    const [memory, handles] = [({ megabytes }: Sample) => megabytes, ({ handles: count }: Sample) => count];
    const pids = new Set(own.map(({ pid }) => pid)).size;
    return `| ${name} | ${pids} | ${medians(memory)} | ${most(memory)} | ${medians(handles)} | ${most(handles)} |`;
  });
}
