// Problem documents (RFC 9457). Every other folder may import this one, which imports none of them.
export {
  contentTooLarge,
  type Fault,
  joinedFaults,
  maxFaults,
  Problem,
  type ProblemCode,
  problemDocument,
  problemMediaType,
  problems,
} from './problem.ts';
