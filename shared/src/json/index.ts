// JSON from clients: string normalization, pointers, merge patches, and the faults that JSON.parse hides.

export { canonicalJson } from './canonical-json.ts';
export { invalidJson } from './invalid-json.ts';
export { escapePointer, pointerTo } from './json-pointer.ts';
export { type JsonSize, jsonSize } from './json-size.ts';
export { mergePatch } from './merge-patch.ts';
export { cleanJson, textFault } from './normalize-text.ts';
export { inexact, isExact, sourceFaults } from './strict-json.ts';
