/** An object without its `undefined` members: what `exactOptionalPropertyTypes` asks for. */
export function defined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  const kept: Partial<T> = {};
  // A loop over names alone: every record of every transcript passes here
  for (const name of Object.keys(value) as (keyof T)[]) {
    const member = value[name];
    if (member !== undefined) kept[name] = member;
  }
  return kept as T;
}
