// A progress bar for long commands. It is written to standard error, so that standard output contains only the result.
import { SingleBar } from 'cli-progress';

export interface Progress {
  update(done: number, total: number): void;
  stop(): void;
}

const usualColumns = 80;
/** The columns of a line without its bar. */
const besideBar = 50;

/**
 * @param unit the counted unit. The progress in bytes is shown as a percentage only
 * @param stream where the bar is drawn, if it is a terminal
 */
export function showProgress(
  unit: 'products' | 'bytes' | 'tables',
  stream: NodeJS.WritableStream & { readonly columns?: number } = process.stderr,
): Progress {
  const count = unit === 'bytes' ? '' : `  {value} of {total} ${unit}`;
  const bar = new SingleBar({
    format: `{bar} {percentage} %${count}{eta_formatted}`,
    formatTime: timeLeft,
    barsize: Math.min(40, Math.max(10, (stream.columns ?? usualColumns) - besideBar)),
    emptyOnZero: true,
    clearOnComplete: true,
    stream,
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

/** @param seconds a string while the library has no estimate: at the start, and when no work remains */
function timeLeft(seconds: number | string): string {
  if (typeof seconds === 'string') return '';
  if (seconds < 60) return `  ${seconds} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `  ${minutes} min left` : `  ${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}
