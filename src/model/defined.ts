/** An object without its `undefined` members: what `exactOptionalPropertyTypes` asks for. */
export const defined = <T extends object>(value: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as T;
