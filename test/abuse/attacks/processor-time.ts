// The processor time of the process that answers a request, which does not depend on other load of the machine.

/** Returns the seconds of processor time that a process has used so far, from its metrics. */
export async function processorTime(metrics: string): Promise<number> {
  const text = await (await fetch(metrics)).text();
  const times = [...text.matchAll(/^process_cpu_time_total\{[^}]*\} (\S+)$/gm)].map(([, time]) => Number(time));
  if (times.length === 0) throw new Error(`${metrics} lists no processor time`);
  return times.reduce((sum, time) => sum + time, 0);
}

/**
 * Returns the milliseconds of processor time for each request.
 * @param send sends `requests` requests one after the other
 */
export async function costOf(
  metrics: string,
  requests: number,
  send: (turn: number) => Promise<unknown>,
): Promise<number> {
  const before = await processorTime(metrics);
  for (let turn = 0; turn < requests; turn += 1) await send(turn);
  return ((await processorTime(metrics)) - before) * (1_000 / requests);
}
