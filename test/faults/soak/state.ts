// The counters of a soak, which its folder keeps between starts.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface FaultFigures {
  rounds: number;
  /** Rounds in which the fault was not seen to have an effect. */
  withoutEffect: number;
  /** Milliseconds between the end of the fault and the recovery, of each round. */
  readonly recoveries: number[];
}

export interface Violation {
  readonly round: number;
  readonly fault: string;
  readonly text: string;
}

export interface SoakState {
  readonly seed: number;
  readonly clusters: boolean;
  starts: number;
  /** Finished rounds, and so the number of the next one. */
  rounds: number;
  /** Of all starts. */
  milliseconds: number;
  /** Status → replies; 0 stands for no reply. */
  readonly replies: Record<string, number>;
  readonly faults: Record<string, FaultFigures>;
  readonly violations: Violation[];
}

const fileIn = (folder: string): string => join(folder, 'state.json');

/**
 * Reads the state in the folder, or returns a new one.
 * @throws Error when the folder belongs to a soak with other settings
 */
export async function readState(folder: string, seed: number, clusters: boolean): Promise<SoakState> {
  await mkdir(folder, { recursive: true });
  const text = await readFile(fileIn(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined)
    return { seed, clusters, starts: 0, rounds: 0, milliseconds: 0, replies: {}, faults: {}, violations: [] };
  const state = JSON.parse(text) as SoakState;
  if (state.seed !== seed || state.clusters !== clusters)
    throw new Error(
      `${folder} belongs to a soak with seed ${state.seed}${state.clusters ? ' and' : ', without'} --clusters`,
    );
  return state;
}

/** Replaces the file in one step, so that a soak that is killed leaves a complete one. */
export async function writeState(folder: string, state: SoakState): Promise<void> {
  const partial = `${fileIn(folder)}.partial`;
  await writeFile(partial, JSON.stringify(state));
  await rename(partial, fileIn(folder));
}
