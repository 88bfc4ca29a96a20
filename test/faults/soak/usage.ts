// The memory and the file handles of the processes, as Linux counts them.
import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deployment } from '../outages/deployment.ts';

export interface Sample {
  /** Minutes since the soak began. */
  readonly minute: number;
  readonly process: string;
  readonly pid: number;
  /** Resident memory in MB. */
  readonly megabytes: number;
  readonly handles: number;
}

const fileIn = (folder: string): string => join(folder, 'usage.csv');

/** Measures every process of the shop and this one. A process that is being started again is left out. */
export async function measure(system: Deployment, minute: number): Promise<Sample[]> {
  const processes = system.all().map(({ name, pid }) => ({ name, pid: pid() }));
  const samples = await Promise.all(
    [...processes, { name: 'soak', pid: process.pid }].map(async ({ name, pid = 0 }): Promise<Sample[]> => {
      try {
        const status = await readFile(`/proc/${pid}/status`, 'utf8');
        const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
        if (kilobytes === undefined) return [];
        const handles = (await readdir(`/proc/${pid}/fd`)).length;
        return [{ minute, process: name, pid, megabytes: Math.round(Number(kilobytes) / 1_024), handles }];
      } catch (error) {
        // The process has ended since.
        if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
        throw error;
      }
    }),
  );
  return samples.flat();
}

export async function keepSamples(folder: string, samples: readonly Sample[]): Promise<void> {
  const lines = samples.map(({ minute, process: name, pid, megabytes, handles }) =>
    [minute.toFixed(1), name, pid, megabytes, handles].join(),
  );
  await appendFile(fileIn(folder), lines.map((line) => `${line}\n`).join(''));
}

/** Reads the samples of all starts; there are none when no round was completed. */
export async function readSamples(folder: string): Promise<Sample[]> {
  const text = await readFile(fileIn(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [minute, name = '', pid, megabytes, handles] = line.split(',');
    return {
      minute: Number(minute),
      process: name,
      pid: Number(pid),
      megabytes: Number(megabytes),
      handles: Number(handles),
    };
  });
}
