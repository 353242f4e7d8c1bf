/**
 * Measures several tasks in rounds, in another order each time, so that other load on the machine affects all of them.
 *
 * @param {Record<string, () => Promise<object>>} tasks
 * @returns the results by name, without the warm-up rounds
 */
export async function inRounds(tasks, runs, warmUps = 1) {
  const names = Object.keys(tasks);
  const measured = Object.fromEntries(names.map((name) => [name, []]));
  for (let n = 0; n < warmUps + runs; n++) {
    const turned = [...names.slice(n % names.length), ...names.slice(0, n % names.length)];
    for (const name of turned) {
      const one = await tasks[name]();
      if (n >= warmUps) measured[name].push(one);
    }
  }
  return measured;
}
