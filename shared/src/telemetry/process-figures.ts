// Metrics of the process: processor time, memory, and the delay of its event loop.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { observe, observeTotal } from './instruments.ts';

const nanoseconds = 1e9;
/** Milliseconds between two samples. The measured delays include this interval. */
const resolution = 20;

/** Starts measuring the event loop. The returned function stops it. */
export function observeProcess(): () => void {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  // Each value covers the time since it was last read.
  observe('nodejs.eventloop.delay', { unit: 's', description: 'How late timers were.' }, (tell) => {
    const late = (time: number): number => Math.max(0, time / nanoseconds - resolution / 1000);
    tell(late(delay.percentile(50)), { quantile: '0.5' });
    tell(late(delay.percentile(99)), { quantile: '0.99' });
    tell(late(delay.max), { quantile: '1' });
    delay.reset();
  });
  let last = performance.eventLoopUtilization();
  observe(
    'nodejs.eventloop.utilization',
    { unit: '1', description: 'Share of time that the thread worked.' },
    (tell) => {
      const now = performance.eventLoopUtilization();
      tell(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  );
  observeTotal('process.cpu.time', { unit: 's', description: 'Processor time since the start.' }, (tell) => {
    const { user, system } = process.cpuUsage();
    tell(user / 1e6, { 'cpu.mode': 'user' });
    tell(system / 1e6, { 'cpu.mode': 'system' });
  });
  observe('process.memory.usage', { unit: 'By', description: 'Resident memory.' }, (tell) => {
    tell(process.memoryUsage.rss());
  });
  observe('process.uptime', { unit: 's', description: 'Time since the start.' }, (tell) => tell(process.uptime()));
  return () => delay.disable();
}
