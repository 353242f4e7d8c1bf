/** Maps items one at a time, as they are read. */
export function* mapped<T, U>(items: Iterable<T>, to: (item: T) => U): Generator<U> {
  for (const item of items) yield to(item);
}

export function* flatMapped<T, U>(items: Iterable<T>, to: (item: T) => Iterable<U>): Generator<U> {
  for (const item of items) yield* to(item);
}
