import { explainError } from '../api/explain-error.ts'
import { Button } from './Button.tsx'

interface LoadMoreProps {
  /** As `useInfiniteQuery` gives it. */
  query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly isFetchNextPageError: boolean
    readonly error: unknown
    fetchNextPage(): Promise<unknown>
  }
}

/** Under a list that goes on: by hand, so that the foot of the page can be reached. */
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
        Carregar mais
      </Button>
    </div>
  )
}
