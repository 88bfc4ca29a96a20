// Converts any thrown or emitted value to a string for messages and logs.

/**
 * Returns the message of an error, also of an object that only has the members of one, as pg-boss emits. For an
 * AggregateError without a message, it returns the messages of its errors. The members of other objects are only named,
 * because their values may be personal data.
 * @example toReason({ message: 'the connection was lost', queue: 'mail' }) // 'the connection was lost'
 */
export function toReason(error: unknown): string {
  if (typeof error === 'symbol' || typeof error === 'function') return typeof error;
  if (typeof error !== 'object' || error === null) return String(error);
  const { message, name, code, errors } = error as Readonly<Record<string, unknown>>;
  if (typeof message === 'string' && message !== '') return message;
  if (Array.isArray(errors) && errors.length > 0) return errors.map(toReason).join(', ');
  const known = [code, name].find((member) => typeof member === 'string' || typeof member === 'number');
  return known === undefined ? `an object with the members ${Object.keys(error).join(', ')}` : String(known);
}
