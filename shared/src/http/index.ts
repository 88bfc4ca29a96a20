export {
  type Fault,
  Problem,
  type ProblemCode,
  type ProblemOptions,
  problemDocument,
  problemMediaType,
  problems,
} from './problem.ts';
