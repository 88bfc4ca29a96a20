// Spreads many small tasks over turns of the event loop, so that they do not delay requests.

/**
 * @returns runs each given task in order, at most `perTurn` of them in one turn of the event loop, from the next turn
 *   on
 */
export function paceTasks(perTurn: number): (task: () => void) => void {
  const tasks: (() => void)[] = [];
  const runSome = (): void => {
    for (const task of tasks.splice(0, perTurn)) task();
    if (tasks.length > 0) setImmediate(runSome);
  };
  return (task) => {
    if (tasks.push(task) === 1) setImmediate(runSome);
  };
}
