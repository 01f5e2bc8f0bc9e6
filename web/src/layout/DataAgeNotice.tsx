import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { dataAgeSeconds, forgetDataAges, onDataAge } from '../api/data-age.ts'
import { duration } from '../format/duration.ts'
import { t } from '../language/t.ts'

/** Says so when lists and sums are behind. Balances and keys never are. */
export function DataAgeNotice() {
  const { pathname } = useLocation()
  const seconds = useSyncExternalStore(onDataAge, dataAgeSeconds)
  const lastPathname = useRef(pathname)
  useEffect(() => {
    if (lastPathname.current === pathname) return
    lastPathname.current = pathname
    forgetDataAges()
  }, [pathname])
  if (seconds === undefined) return null
  return (
    <p role="status" className="bg-accent-soft px-4 py-2 text-center text-sm text-ink">
      {t('Dados de há {age}. O saldo é o de agora.', { age: duration(seconds * 1_000) })}
    </p>
  )
}
