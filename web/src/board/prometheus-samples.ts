// Parses metrics in the text format of Prometheus, version 0.0.4.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
// Without \b, the pattern would be tried at each character of a long name, which takes quadratic time.
const label = /\b(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Returns the samples of a response. Lines that are not samples are skipped. */
export function readSamples(text: string): Sample[] {
  return text.split('\n').flatMap((row): Sample[] => {
    const [, name, inside = '', figure = ''] = line.exec(row) ?? [];
    const value = figure === '+Inf' ? Number.POSITIVE_INFINITY : Number(figure);
    if (name === undefined || Number.isNaN(value)) return [];
    const labels = Object.fromEntries([...inside.matchAll(label)].map(([, key = '', text = '']) => [key, text]));
    return [{ name, labels, value }];
  });
}
