// Measures the size of a JSON text before it is parsed, because the work of every later step grows with its numbers of
// members and elements.

export interface JsonSize {
  /** The number of members in the text. A duplicate counts twice. */
  members: number;
  /** Elements of all arrays. An empty array counts as one. */
  elements: number;
}

const quote = 0x22;
const backslash = 0x5c;
/**
 * The depth that is counted exactly, more than a body may have. A list of fixed length costs less than one that grows
 * with a malicious body.
 */
const deepest = 64;

/**
 * Counts in one pass. For invalid JSON, the numbers have no meaning. Below a depth of 64, members of objects count as
 * elements, too.
 */
export function jsonSize(text: string): JsonSize {
  const size: JsonSize = { members: 0, elements: 0 };
  // For each open bracket, whether it is that of an array.
  const arrays = new Uint8Array(deepest);
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case quote:
        index = endOfText(text, index);
        break;
      case 0x3a: // :
        size.members += 1;
        break;
      case 0x2c: // ,
        if (depth > deepest || arrays[depth - 1] === 1) size.elements += 1;
        break;
      case 0x5b: // [
        size.elements += 1;
        arrays[depth] = 1;
        depth += 1;
        break;
      case 0x7b: // {
        arrays[depth] = 0;
        depth += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        if (depth > 0) depth -= 1;
        break;
    }
  }
  return size;
}

/** Returns the position of the closing quote of the string that begins at `start`. */
function endOfText(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === backslash) index += 1;
    else if (character === quote) return index;
  }
  return text.length;
}
