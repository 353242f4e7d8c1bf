/** What is read-only to everybody else, for whoever makes it. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };
