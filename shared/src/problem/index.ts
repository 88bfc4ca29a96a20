// Problem documents (RFC 9457). Every other folder may import this one; it imports none.
export {
  contentTooLarge,
  type Fault,
  maxFaults,
  Problem,
  type ProblemCode,
  problemDocument,
  problemMediaType,
  problems,
} from './problem.ts';
