import { useLocation } from '@tanstack/react-router'
import { useEffect, useSyncExternalStore } from 'react'
import { dataAgeSeconds, forgetDataAges, onDataAge } from '../api/data-age.ts'
import { duration } from '../format/duration.ts'

/** Says so when lists and sums are behind. Balances and keys never are. */
export function DataAgeNotice() {
  const { pathname } = useLocation()
  const seconds = useSyncExternalStore(onDataAge, dataAgeSeconds)
  useEffect(() => forgetDataAges, [pathname])
  if (seconds === undefined) return null
  return (
    <p role="status" className="bg-accent-soft px-4 py-2 text-center text-sm text-ink">
      Dados de há {duration(seconds * 1_000)}. O saldo é o de agora.
    </p>
  )
}
