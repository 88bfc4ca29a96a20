// Validates events against shared/contracts/events.yaml, both before they are stored and after they are received.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { bundleDocument, toNode } from '../contract/index.ts';
import { isId } from '../runtime/index.ts';
import type { components, EventPayloads, EventType } from './generated.ts';

type Envelope = components['schemas']['CloudEvent'];

interface EventSchemas {
  readonly types: ReadonlySet<string>;
  /** Returns the validator of a schema of events.yaml. It is compiled at its first use. */
  validatorOf<T>(schema: string): ValidateFunction<T>;
  errorsOf(validate: ValidateFunction, name: string): string;
}

let schemas: EventSchemas | undefined;

/**
 * Reads the schemas, once. A service calls it at its start, so that no request waits for the reading; each schema is
 * compiled at its first use. It is not done on import, because the command line imports this module and validates no
 * event.
 */
export function loadEventSchemas(): EventSchemas {
  schemas ??= readSchemas();
  return schemas;
}

function readSchemas(): EventSchemas {
  const document = bundleDocument(new URL('../../contracts/events.yaml', import.meta.url));
  // Validating the schemas themselves would take longer than compiling them. `npm run check` validates the document.
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, validateSchema: false });
  addFormats.default(ajv);
  ajv.addFormat('uuid', isId);
  // Strict mode rejects unknown keywords. The members of the document around its schemas are not keywords.
  ajv.addVocabulary([...Object.keys(document), 'x-pattern-detail']);
  ajv.addSchema(document, 'events');
  return {
    types: new Set(Object.keys(toNode(toNode(document.components).channels))),
    validatorOf<T>(schema: string) {
      const validate = ajv.getSchema<T>(`events#/components/schemas/${schema}`);
      if (validate === undefined) throw new Error(`events.yaml has no schema ${schema}`);
      return validate as ValidateFunction<T>;
    },
    errorsOf: ({ errors }, name) => ajv.errorsText(errors, { dataVar: name }),
  };
}

/** A value that conforms to its schema, or the errors as one line. */
export type Validated<T> =
  | { readonly valid: true; readonly value: T }
  | { readonly valid: false; readonly errors: string };

/** Validates the members of a CloudEvent, but not its `data`. */
export function validateEnvelope(value: unknown): Validated<Envelope> {
  const { validatorOf, errorsOf } = loadEventSchemas();
  const isEnvelope = validatorOf<Envelope>('CloudEvent');
  return isEnvelope(value) ? { valid: true, value } : { valid: false, errors: errorsOf(isEnvelope, 'event') };
}

/** Returns whether events.yaml defines the type. */
export function isEventType(type: string): type is EventType {
  return loadEventSchemas().types.has(type);
}

/** Validates the `data` of an event of a type. */
export function validatePayload(type: EventType, data: unknown): Validated<EventPayloads[EventType]> {
  const { types, validatorOf, errorsOf } = loadEventSchemas();
  if (!types.has(type)) return { valid: false, errors: `there is no event type ${type}` };
  const isPayload = validatorOf<EventPayloads[EventType]>(type);
  return isPayload(data) ? { valid: true, value: data } : { valid: false, errors: errorsOf(isPayload, 'data') };
}
