// The processor time of a service and of PostgreSQL together, which does not depend on other load of the machine.
import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';

/** Processor time in milliseconds that the process and the present connections of PostgreSQL have used. */
export async function processorTime(client: pg.Client, service: number): Promise<number> {
  const text = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
  const { rows } = await client.query<{ pid: number }>(text);
  return [service, ...rows.map(({ pid }) => pid)].reduce((sum, pid) => sum + timeOf(pid), 0);
}

/** Returns the processor time of all threads of a process. */
function timeOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return sum + Number(nanoseconds) / 1_000_000;
  }, 0);
}
