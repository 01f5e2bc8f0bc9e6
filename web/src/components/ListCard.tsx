import type { ReactNode } from 'react'
import { Card, type CardProps } from './Card.tsx'
import { ErrorState } from './ErrorState.tsx'
import { LoadMore, type LoadMoreProps } from './LoadMore.tsx'
import { SkeletonRows } from './SkeletonRows.tsx'

interface Props<Entry> extends Omit<CardProps, 'children'> {
  /** As `useInfiniteQuery` returns it. */
  readonly query: LoadMoreProps['query'] & {
    readonly isPending: boolean
    readonly isError: boolean
    refetch(): Promise<unknown>
  }
  /** Undefined until the first page is there. */
  readonly entries: readonly Entry[] | undefined
  readonly loadingText: string
  /** Shown when the list is empty. */
  readonly empty: ReactNode
  /** Changes are announced. */
  readonly isLive?: boolean
  /** Returns the `li` of an entry. */
  readonly children: (entry: Entry) => ReactNode
}

/** A card with a list that is loaded page by page. */
export function ListCard<Entry>({
  query,
  entries,
  loadingText,
  empty,
  isLive,
  children,
  ...card
}: Props<Entry>) {
  return (
    <Card {...card}>
      {query.isPending && <SkeletonRows label={loadingText} />}
      {query.isError && !entries && (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      )}
      {entries?.length === 0 && empty}
      <ul className="divide-y divide-line" aria-live={isLive ? 'polite' : undefined}>
        {entries?.map(children)}
      </ul>
      <LoadMore query={query} />
    </Card>
  )
}
