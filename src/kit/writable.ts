/** Removes `readonly`, for code that builds the object. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };
