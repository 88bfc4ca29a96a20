// Whether the machine has the tools that separate the parts of a measurement.
import { execFileSync } from 'node:child_process';

/** Whether a program exists and succeeds with these arguments. */
export function canRun(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
