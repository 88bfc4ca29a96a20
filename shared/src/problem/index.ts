// Problem documents (RFC 9457). Every other folder may import this one, which imports none of them.
export { nearestName } from './nearest-name.ts';
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
  toSummary,
} from './problem.ts';
