// Validates events against shared/contracts/events.yaml, both before they are stored and after they are received.
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { bundleDocument, nodeOf } from '../http/protocol.ts';
import { isId } from '../runtime/index.ts';
import type { components, EventPayloads, EventType } from './generated.ts';

type Envelope = components['schemas']['CloudEvent'];

const documentKey = 'events';
const document = bundleDocument(new URL('../../contracts/events.yaml', import.meta.url));

// Validating the schemas themselves would take longer than compiling them, at each start. `npm run check` validates the document.
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, validateSchema: false });
addFormats.default(ajv);
ajv.addFormat('uuid', isId);
// Strict mode refuses keywords that it does not know. The members of the document around its schemas are no keywords.
ajv.addVocabulary(Object.keys(document));
ajv.addSchema(document, documentKey);

const compile = <T>(schema: string) => ajv.compile<T>({ $ref: `${documentKey}#/components/schemas/${schema}` });

const isEnvelope = compile<Envelope>('CloudEvent');
const payloads = new Map(
  Object.keys(nodeOf(nodeOf(document.components).channels)).map((type) => [
    type,
    compile<EventPayloads[EventType]>(type),
  ]),
);

/** A value that conforms to its schema, or the errors as one line. */
export type Validated<T> =
  | { readonly valid: true; readonly value: T }
  | { readonly valid: false; readonly errors: string };

/** Validates everything around `data`: the members of a CloudEvent. */
export function validateEnvelope(value: unknown): Validated<Envelope> {
  if (isEnvelope(value)) return { valid: true, value };
  return { valid: false, errors: ajv.errorsText(isEnvelope.errors, { dataVar: 'event' }) };
}

/** Whether events.yaml defines the type. */
export function isEventType(type: string): type is EventType {
  return payloads.has(type);
}

/** Validates the `data` of an event of a type. */
export function validatePayload(type: EventType, data: unknown): Validated<EventPayloads[EventType]> {
  const isPayload = payloads.get(type);
  if (isPayload === undefined) return { valid: false, errors: `there is no event type ${type}` };
  if (isPayload(data)) return { valid: true, value: data };
  return { valid: false, errors: ajv.errorsText(isPayload.errors, { dataVar: 'data' }) };
}
