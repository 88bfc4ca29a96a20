// The environment variables that tests pass to the processes that they start.

/**
 * Returns the environment for a process that a test starts: the paths of programs, its home, temporary files and
 * compiled sources. It contains no other settings of the machine or of the test runner.
 */
export function plainEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}
