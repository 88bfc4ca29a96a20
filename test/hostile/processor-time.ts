// What a request costs the process that answers it: its own processor time, whatever else the machine does.

/** Seconds of processor time that a process has taken so far, from its metrics. */
export async function processorTime(metrics: string): Promise<number> {
  const text = await (await fetch(metrics)).text();
  const times = [...text.matchAll(/^process_cpu_time_total\{[^}]*\} (\S+)$/gm)].map(([, time]) => Number(time));
  if (times.length === 0) throw new Error(`${metrics} lists no processor time`);
  return times.reduce((sum, time) => sum + time, 0);
}

/**
 * Milliseconds of processor time for each request.
 * @param send asks one request after the other, `requests` of them
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
