/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** The `before` of the next page; null at the end. */
  nextCursor: string | null;
}

/** Every item of every page, each page read when the one before it is used up. */
export async function* everyItem<T>(read: (before: string | undefined) => Promise<Page<T>>, before?: string): AsyncGenerator<T> {
  for (let cursor = before; ; ) {
    const page = await read(cursor);
    yield* page.items;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}
