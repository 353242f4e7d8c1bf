/** An object without its `undefined` members, as `exactOptionalPropertyTypes` requires. */
export function defined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  const kept: Partial<T> = {};
  // No list of members is made: every record of every transcript passes through here
  for (const name in value) {
    const member = value[name];
    if (member !== undefined) kept[name] = member;
  }
  return kept as T;
}
