import { explainError } from '../api/explain-error.ts'
import { Button } from './Button.tsx'
import { t } from '../language/t.ts'

export interface LoadMoreProps {
  /** As `useInfiniteQuery` returns it. */
  query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly isFetchNextPageError: boolean
    readonly error: unknown
    fetchNextPage(): Promise<unknown>
  }
}

/** Loads the next page of a list on request, so that the footer stays reachable. */
export function LoadMore({ query }: LoadMoreProps) {
  if (!query.hasNextPage) return null
  return (
    <div className="flex flex-col items-center gap-2">
      {query.isFetchNextPageError && (
        <p role="alert" className="text-sm font-medium text-danger">
          {explainError(query.error)}
        </p>
      )}
      <Button
        variant="secondary"
        isBusy={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {t('Carregar mais')}
      </Button>
    </div>
  )
}
