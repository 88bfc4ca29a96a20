// A progress bar for long commands. It is written to standard error, so that standard output contains only the result.
import { SingleBar } from 'cli-progress';

export interface Progress {
  update(done: number, total: number): void;
  stop(): void;
}

/** @param unit the counted unit. The progress in bytes is shown as a percentage only. */
export function showProgress(unit: 'products' | 'orders' | 'bytes' | 'tables'): Progress {
  const count = unit === 'bytes' ? '' : `  {value} of {total} ${unit}`;
  const bar = new SingleBar({
    format: `{bar} {percentage} %${count}  {eta_formatted} left`,
    hideCursor: true,
    clearOnComplete: true,
    stream: process.stderr,
  });
  let started = false;
  return {
    update(done, total) {
      if (started) {
        bar.setTotal(total);
        bar.update(done);
      } else bar.start(total, done);
      started = true;
    },
    stop() {
      bar.stop();
    },
  };
}
