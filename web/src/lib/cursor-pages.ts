/** Options of `useInfiniteQuery` for lists of the API: each page names the cursor of the next. */
export const cursorPages = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: { next_cursor: string | null }): string | undefined =>
    page.next_cursor ?? undefined,
}
