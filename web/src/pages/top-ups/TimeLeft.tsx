import { Clock } from 'lucide-react'
import { useEffect, useState } from 'react'
import { DateTime } from '../../components/DateTime.tsx'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

const MINUTE_MS = 60_000
const TICK_MS = 1_000

/**
 * The deadline of a payment code, with a countdown in the last hour. Not announced to screen readers, because
 * it changes every second.
 */
export function TimeLeft({ until }: { readonly until: string }) {
  const [now, setNow] = useState(Date.now)
  const leftMs = new Date(until).getTime() - now
  const counts = leftMs > 0 && leftMs < 60 * MINUTE_MS
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), counts ? TICK_MS : MINUTE_MS)
    return () => clearInterval(timer)
  }, [counts])
  return (
    <p className="flex items-center gap-2 text-sm text-muted">
      <Clock aria-hidden="true" className="size-4" />
      {leftMs <= 0 ? (
        <span>{t('O código venceu. Gere outro Pix.')}</span>
      ) : (
        <span>
          <Trans id="Vale até {dateTime}" values={{ dateTime: <DateTime instant={until} /> }} />
          {counts && (
            <span className="tabular-nums">
              <Trans id=", faltam {leftMs}" values={{ leftMs: clock(leftMs) }} />
            </span>
          )}
        </span>
      )}
    </p>
  )
}

function clock(leftMs: number): string {
  const seconds = Math.floor(leftMs / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
