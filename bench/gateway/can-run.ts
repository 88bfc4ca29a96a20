// What the machine offers to keep the parts of a measurement apart.
import { execFileSync } from 'node:child_process';

/** Whether a program is there and does what it is asked for. */
export function canRun(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
