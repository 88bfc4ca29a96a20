// What of the machine a process sees that a test starts.

/**
 * The environment for a process that a test starts: where programs, its home and temporary files are, and where
 * compiled sources are kept. Nothing of the machine's own settings, and none of the test runner's.
 */
export function plainEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}
