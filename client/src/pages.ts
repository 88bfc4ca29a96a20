// The pages of a list, one after the other.

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pagination: { readonly nextCursor?: string };
}

/** Requests each page after the one before it was read. */
export async function* pagesOf<Each extends Page<unknown>>(
  read: (cursor: string | undefined) => Promise<Each>,
): AsyncGenerator<Each, void> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield page;
    cursor = page.pagination.nextCursor;
  } while (cursor !== undefined);
}

/** Returns the items of all pages. */
export async function* itemsOf<Item>(pages: AsyncIterable<Page<Item>>): AsyncGenerator<Item, void> {
  for await (const { items } of pages) yield* items;
}
