// Validates events against shared/contracts/events.yaml, both before they are stored and after they are received.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { bundleDocument, nodeOf } from '../contract/index.ts';
import { isId } from '../runtime/index.ts';
import type { components, EventPayloads, EventType } from './generated.ts';

type Envelope = components['schemas']['CloudEvent'];

interface Validators {
  readonly errorsOf: (validate: ValidateFunction, name: string) => string;
  readonly isEnvelope: ValidateFunction<Envelope>;
  readonly payloads: ReadonlyMap<string, ValidateFunction<EventPayloads[EventType]>>;
}

let validators: Validators | undefined;

/**
 * Reads and compiles the schemas, once. A service calls it at its start, so that no request waits for it. It is not
 * done on import, because the command line imports this module and validates no event.
 */
export function loadEventSchemas(): Validators {
  validators ??= compileSchemas();
  return validators;
}

function compileSchemas(): Validators {
  const document = bundleDocument(new URL('../../contracts/events.yaml', import.meta.url));
  // Validating the schemas themselves would take longer than compiling them. `npm run check` validates the document.
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, validateSchema: false });
  addFormats.default(ajv);
  ajv.addFormat('uuid', isId);
  // Strict mode refuses keywords that it does not know. The members of the document around its schemas are not
  // keywords.
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(document, 'events');
  const compile = <T>(schema: string) => ajv.compile<T>({ $ref: `events#/components/schemas/${schema}` });
  const types = Object.keys(nodeOf(nodeOf(document.components).channels));
  return {
    errorsOf: ({ errors }, name) => ajv.errorsText(errors, { dataVar: name }),
    isEnvelope: compile('CloudEvent'),
    payloads: new Map(types.map((type) => [type, compile(type)])),
  };
}

/** A value that conforms to its schema, or the errors as one line. */
export type Validated<T> =
  | { readonly valid: true; readonly value: T }
  | { readonly valid: false; readonly errors: string };

/** Validates the members of a CloudEvent, but not its `data`. */
export function validateEnvelope(value: unknown): Validated<Envelope> {
  const { isEnvelope, errorsOf } = loadEventSchemas();
  return isEnvelope(value) ? { valid: true, value } : { valid: false, errors: errorsOf(isEnvelope, 'event') };
}

/** Whether events.yaml defines the type. */
export function isEventType(type: string): type is EventType {
  return loadEventSchemas().payloads.has(type);
}

/** Validates the `data` of an event of a type. */
export function validatePayload(type: EventType, data: unknown): Validated<EventPayloads[EventType]> {
  const { payloads, errorsOf } = loadEventSchemas();
  const isPayload = payloads.get(type);
  if (isPayload === undefined) return { valid: false, errors: `there is no event type ${type}` };
  return isPayload(data) ? { valid: true, value: data } : { valid: false, errors: errorsOf(isPayload, 'data') };
}
