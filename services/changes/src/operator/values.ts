// The values of options of the command line. Its help needs them, and nothing else of the service.
export { kinds } from '../feed/change.ts';
export type { Kind } from '../feed/changed-resource.ts';
