/**
 * One item of a live stream. All followers share it, so that a result that is computed for one is reused for the
 * others.
 */
export class StreamItem<T, Cursor extends string | undefined = undefined> {
  readonly node: T;
  /** The cursor to resume after this item. Undefined if the stream can't be resumed. */
  readonly cursor: Cursor;
  readonly #values = new Map<string, unknown>();

  constructor(node: T, cursor: Cursor) {
    this.node = node;
    this.cursor = cursor;
  }

  /** Returns the value that the first call with the key computed. A key must stand for one type of value. */
  shared<M>(key: string, compute: (item: this) => M): M {
    const existing = this.#values.get(key) as M | undefined;
    if (existing !== undefined) return existing;
    const value = compute(this);
    this.#values.set(key, value);
    return value;
  }
}
