import { explainError } from '../api/explain-error.ts'
import { Button } from './Button.tsx'
import { t } from '../language/t.ts'

/** Shown in place of content that failed to load. */
export function ErrorState({
  error,
  onRetry,
  retryText = t('Tentar de novo'),
}: {
  error: unknown
  onRetry?: () => void
  retryText?: string
}) {
  return (
    <div role="alert" className="flex flex-col items-start gap-3 rounded-lg bg-danger-soft p-4">
      <p className="text-sm font-medium text-danger">{explainError(error)}</p>
      {onRetry && (
        <Button variant="secondary" onClick={onRetry}>
          {retryText}
        </Button>
      )}
    </div>
  )
}
