// JSON from clients: text normalization, pointers, and the faults that JSON.parse hides.

export { escapePointer, pointerTo } from './json-pointer.ts';
export { type JsonSize, jsonSize } from './json-size.ts';
export { cleanJson, textFault } from './normalize-text.ts';
export { inexact, isExact, sourceFaults } from './strict-json.ts';
