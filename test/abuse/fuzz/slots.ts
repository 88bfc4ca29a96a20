// Places in a generated request that are filled when it is sent, from what the run has seen so far.
import fc from 'fast-check';

/** A share from 0 to 1, without 1. Unlike those of `fc.double`, all are equally likely. */
export const share: fc.Arbitrary<number> = fc
  .noBias(fc.integer({ min: 0, max: 9_999 }))
  .map((number) => number / 10_000);

/** Stands for a value that the run remembers under this name. `pick`, from 0 to 1, selects one of several. */
export class Slot {
  readonly name: string;
  readonly pick: number;

  constructor(name: string, pick: number) {
    this.name = name;
    this.pick = pick;
  }
}

/** Stands for text that is written into the JSON unchanged, such as `1e999`, which no JavaScript number becomes. */
export class Literal {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A text of which parts are filled when the request is sent. */
export type Text = readonly (string | Slot)[];

/** A slot with any share. */
export const slot = (name: string): fc.Arbitrary<Slot> => share.map((pick) => new Slot(name, pick));

/** The usual values, `weight` times as often as the others. */
export const often = <T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });

/** Texts without a slot. */
export const plain = (texts: fc.Arbitrary<string>): fc.Arbitrary<Text> => texts.map((text) => [text]);

/** Writes a value as JSON, with each slot filled by `fill`. */
export function written(value: unknown, fill: (slot: Slot) => unknown): string {
  if (value instanceof Slot) return written(fill(value) ?? null, fill);
  if (value instanceof Literal) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => written(item, fill)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${written(member, fill)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
