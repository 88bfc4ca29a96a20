// How a list is read.

export interface ListOptions<Field extends string, Sortable extends string> {
  readonly sort?: readonly { readonly field: Sortable; readonly direction: 'asc' | 'desc' }[];
  /** The members to return; default all. */
  readonly fields?: readonly Field[];
  /** The number of items for each request, 1 to 100; default 100. */
  readonly limit?: number;
}
